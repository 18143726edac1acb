import { readFileSync } from 'node:fs'
import { listMigrations } from '../../src/db/migrate.ts'
import type { AppliedMigration } from '../../src/db/past-migrations.ts'

export const manifestFile = 'server/migrations/manifest.json'

/** Names of migrations to the SHA-256 of their texts: what databases out there have run. */
type Manifest = Readonly<Record<string, string>>

/** The manifest with what is new in it. @throws Error where a migration that it names is another one now, or none. */
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

/** The text of the manifest as it should be. */
export async function writeManifest(root: URL): Promise<string> {
  const kept = JSON.parse(readFileSync(new URL(manifestFile, root), 'utf8')) as Manifest
  return `${JSON.stringify(extendManifest(kept, await listMigrations()), null, 2)}\n`
}
