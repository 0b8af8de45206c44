/** The bar's links, and the menu of what admins look after. */
import { Menu } from "@mantine/core";
import { ChevronDown } from "lucide-react";
import { Link, useLocation } from "react-router";

import { useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";

import styles from "./layout.module.css";
import { MANAGED, mayGo, PLACES, type Place } from "./navigation-items";

export function Navigation() {
  const { t } = useI18n();
  const user = useUser();
  const here = useHere();
  const managed = MANAGED.filter((place) => mayGo(user, place));
  return (
    <nav className={styles.nav} aria-label={t("nav.label")}>
      {PLACES.filter((place) => mayGo(user, place)).map((place) => (
        <Link key={place.to} to={place.to} aria-current={here === place.to ? "page" : undefined}>
          {t(place.label)}
        </Link>
      ))}
      {managed.length > 0 && <Manage places={managed} here={here} />}
    </nav>
  );
}

function Manage({ places, here }: { places: readonly Place[]; here: string | undefined }) {
  const { t } = useI18n();
  const inside = places.some(({ to }) => to === here);
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <button type="button" className={styles.manage} data-inside={inside || undefined}>
          {t("nav.manage")} <ChevronDown size={13} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {places.map(({ to, label, command }) => (
          <Menu.Item
            key={to}
            component={Link}
            to={to}
            aria-current={here === to ? "page" : undefined}
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
function useHere(): string | undefined {
  const { pathname, search } = useLocation();
  const asked = new URLSearchParams(search);
  const fits = ({ to }: Place) => {
    const { pathname: path, searchParams } = new URL(to, window.location.origin);
    return path === pathname && [...searchParams].every(([name, value]) => asked.get(name) === value);
  };
  return [...PLACES, ...MANAGED].filter(fits).sort((a, b) => b.to.length - a.to.length)[0]?.to;
}
