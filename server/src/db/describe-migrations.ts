const few = 5

/** What a start says of the migrations that it ran; undefined if it ran none. `first`: the first of all. */
export function describeMigrations(ran: readonly string[], first: string | undefined): string | undefined {
  const last = ran.at(-1)
  if (last === undefined) return undefined
  if (ran[0] === first) return `made the tables (${ran.length} migrations)`
  const which = ran.length <= few ? ran.join(', ') : `${ran.length} migrations, the last one ${last}`
  return `migrated the database to this version: ${which}`
}
