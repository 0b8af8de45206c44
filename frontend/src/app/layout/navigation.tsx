/** The bar's links, and the menu of what admins look after. */
import { Menu } from "@mantine/core";
import { ChevronDown } from "lucide-react";
import { Link, useLocation } from "react-router";

import { useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";

import styles from "./layout.module.css";
import { ADMIN_ITEMS, canOpen, MAIN_ITEMS, type NavigationItem } from "./navigation-items";

export function Navigation() {
  const { t } = useI18n();
  const user = useUser();
  const current = useCurrentItem();
  const adminItems = ADMIN_ITEMS.filter((item) => canOpen(user, item));
  const inMenu = adminItems.length > 1;
  const links = [...MAIN_ITEMS.filter((item) => canOpen(user, item)), ...(inMenu ? [] : adminItems)];
  return (
    <nav className={styles.nav} aria-label={t("nav.label")}>
      {links.map((item) => (
        <Link key={item.to} to={item.to} aria-current={current === item.to ? "page" : undefined}>
          {t(item.label)}
        </Link>
      ))}
      {inMenu && <AdminMenu items={adminItems} current={current} />}
    </nav>
  );
}

function AdminMenu({ items, current }: { items: readonly NavigationItem[]; current: string | undefined }) {
  const { t } = useI18n();
  const inside = items.some(({ to }) => to === current);
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <button type="button" className={styles.manage} data-inside={inside || undefined}>
          {t("nav.manage")} <ChevronDown size={13} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ to, label, command }) => (
          <Menu.Item
            key={to}
            component={Link}
            to={to}
            aria-current={current === to ? "page" : undefined}
            rightSection={command && <CommandKey command={command} />}
          >
            {t(label)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The place one is at: the one whose address, search included, says the most of this one. */
function useCurrentItem(): string | undefined {
  const { pathname, search } = useLocation();
  const query = new URLSearchParams(search);
  const fits = ({ to }: NavigationItem) => {
    const { pathname: path, searchParams } = new URL(to, window.location.origin);
    return path === pathname && [...searchParams].every(([name, value]) => query.get(name) === value);
  };
  return [...MAIN_ITEMS, ...ADMIN_ITEMS].filter(fits).sort((a, b) => b.to.length - a.to.length)[0]?.to;
}
