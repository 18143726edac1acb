/** A person of a list, as a preflight asks for them. */
export type PastedPerson = { user_name: string; external_id: string | null; email: string | null }

/** `noNames`: no column says by what name the directory knows its people. */
export type Pasted = { people: PastedPerson[] } | { fault: 'empty' | 'noNames' }

/** What exports call their columns, as letters in lower case: the first that there is, counts. */
const columns = {
  user_name: ['username', 'userprincipalname', 'oktausername', 'login', 'userlogin', 'loginname', 'upn'],
  external_id: ['externalid', 'objectid', 'userid', 'oktaid', 'id'],
  email: ['email', 'mail', 'emailaddress', 'primaryemail', 'primaryemailaddress', 'useremail'],
} as const

const lettersOf = (title: string): string => title.toLowerCase().replace(/[^a-z]/g, '')

/** The people of a table, with or without titles: without, its first column has the addresses. */
export function readPeople(table: readonly (readonly string[])[]): Pasted {
  const [first, ...others] = table
  if (first === undefined) return { fault: 'empty' }
  const titles = first.map(lettersOf)
  const at = (names: readonly string[]) => titles.indexOf(names.find((name) => titles.includes(name)) ?? '-')
  const [name, id, email] = [at(columns.user_name), at(columns.external_id), at(columns.email)]
  if (name < 0 && email < 0)
    return table.every(([cell]) => cell?.includes('@')) ? addresses(table) : { fault: 'noNames' }
  const people = others.flatMap((row): PastedPerson[] => {
    const [user_name, external_id, address] = [row[name] ?? row[email], row[id], row[email]].map(textOf)
    const called = user_name ?? address
    return called == null ? [] : [{ user_name: called, external_id: external_id ?? null, email: address ?? null }]
  })
  return people.length === 0 ? { fault: 'empty' } : { people }
}

const textOf = (cell: string | undefined): string | null => cell?.trim() || null

const addresses = (table: readonly (readonly string[])[]): Pasted => ({
  people: table.map(([cell = '']) => ({ user_name: cell.trim(), external_id: null, email: null })),
})

/** The parts of a list, each as long as one call takes. */
export function inParts<Entry>(list: readonly Entry[], size: number): Entry[][] {
  const count = Math.ceil(list.length / size)
  return Array.from({ length: count }, (_, part) => list.slice(part * size, (part + 1) * size))
}
