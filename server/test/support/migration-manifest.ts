import { readFileSync } from 'node:fs'
import { listMigrations } from '../../src/db/migrate.ts'
import type { AppliedMigration } from '../../src/db/past-migrations.ts'

export const manifestFile = 'server/migrations/manifest.json'

/** The SHA-256 of each migration's text, by name: what deployed databases have run. */
type Manifest = Readonly<Record<string, string>>

/**
 * Adds new migrations to the manifest.
 * @throws Error if a migration that it names has changed or is missing.
 */
export function extendManifest(kept: Manifest, migrations: readonly AppliedMigration[]): Manifest {
  const now = new Map(migrations.map(({ name, checksum }) => [name, checksum]))
  const changed = Object.keys(kept).filter((name) => now.get(name) !== kept[name])
  if (changed.length > 0) {
    const names = changed.map((name) => `\`${name}\``).join(', ')
    throw new Error(
      `${names}: a migration that has landed is never edited, renamed or removed: put it back and add a new one. Has it not landed? Take its line out of ${manifestFile}`,
    )
  }
  return Object.fromEntries([...now].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The text that the manifest must have. */
export async function writeManifest(root: URL): Promise<string> {
  const kept = JSON.parse(readFileSync(new URL(manifestFile, root), 'utf8')) as Manifest
  return `${JSON.stringify(extendManifest(kept, await listMigrations()), null, 2)}\n`
}
