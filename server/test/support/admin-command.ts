import type { TestDatabase } from './database.ts'
import { startScript, urlOf } from './sallyport.ts'

/** Runs `npm run admin` on a database, also as its owner, so that a command that migrates would do it. Returns what came of it. */
export async function runAdmin(
  { service, owner }: Pick<TestDatabase, 'service' | 'owner'>,
  DATA_DIR: string,
  options: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const databases = { DATABASE_URL: urlOf(service), DATABASE_OWNER_URL: urlOf(owner) }
  const command = startScript('admin', options, { ...databases, DATA_DIR })
  return { code: await command.end(), output: command.output() }
}
