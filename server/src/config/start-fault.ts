/** In the words of the system, of Node and of PostgreSQL. */
const fullDisk = /no space left on device|ENOSPC|could not extend file|disk full/i

type Place = { database_url: string | undefined; data_dir: string }

/** Why the service does not start, in one line: the error's own sentence, and what to do where that says only what failed. Pure. */
export function describeStartFault(error: unknown, place: Place | undefined): string {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, '; ')
  if (place === undefined || !fullDisk.test(message)) return message
  const { database_url, data_dir } = place
  const disk =
    database_url === undefined ? `the disk of \`${data_dir}\`` : `the database server or on the disk of \`${data_dir}\``
  return `no space is left on ${disk}: make room, then start again; what was saved stays (${message})`
}
