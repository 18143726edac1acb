const few = 5

/** What a start says of the migrations that it ran; undefined if it ran none. `first`: the first of all. */
export function describeMigrations(ran: readonly string[], first: string | undefined): string | undefined {
  if (ran.length === 0) return undefined
  if (ran[0] === first) return `made the tables (${ran.length} migrations)`
  return `migrated the database to this version: ${nameMigrations(ran)}`
}

/** A few by their names, many by their number. */
export function nameMigrations(names: readonly string[]): string {
  return names.length <= few ? names.join(', ') : `${names.length} migrations, the last one ${names.at(-1)}`
}
