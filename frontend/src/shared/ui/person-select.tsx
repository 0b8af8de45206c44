/** A person, chosen by their name; the value is their user name. */
import { Select, type SelectProps } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PersonName } from "@/generated/api";
import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

/** Milliseconds without a key before what was typed is searched for. */
const DEBOUNCE_MS = 250;

const namesQuery = (search: string) =>
  queryOptions({
    queryKey: ["people", "names", search],
    queryFn: () => request("GET", `/people/names?${new URLSearchParams(search ? { search } : {}).toString()}`),
    staleTime: 60_000,
  });

const optionOf = ({ username, name }: PersonName) => ({ value: username, label: name && name !== username ? `${name} (${username})` : username });

type Props = Omit<SelectProps, "data" | "value" | "onChange" | "searchable" | "searchValue" | "onSearchChange" | "filter"> & {
  /** A user name; null where nobody is chosen. */
  readonly value: string | null;
  readonly onChange: (username: string | null) => void;
};

/** The option of whoever is chosen, by their name once that is known. */
function useChosen(value: string | null) {
  const named = useQuery({ ...namesQuery(value ?? ""), enabled: value !== null }).data?.find(({ username }) => username === value);
  return value === null ? null : optionOf(named ?? { username: value, name: "" });
}

export function PersonSelect({ value, onChange, ...props }: Props) {
  const { t } = useI18n();
  const [typed, setTyped] = useState("");
  const [opened, setOpened] = useState(false);
  const current = useChosen(value);
  const [search] = useDebouncedValue(typed === current?.label ? "" : typed, DEBOUNCE_MS);
  const found = useQuery({ ...namesQuery(search), enabled: opened, placeholderData: keepPreviousData });
  const options = (found.data ?? []).map(optionOf);
  return (
    <Select
      clearable
      {...props}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      onDropdownOpen={() => setOpened(true)}
      nothingFoundMessage={t(found.isFetching ? "people.names.searching" : "people.names.none")}
      data={current && !options.some((option) => option.value === current.value) ? [current, ...options] : options}
      value={value}
      onChange={onChange}
    />
  );
}
