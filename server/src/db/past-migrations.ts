/** A migration as recorded in a database or a backup. `checksum`: SHA-256 of its text, in hex. */
export type AppliedMigration = { name: string; checksum: string }

type PastMigration = AppliedMigration & {
  /** The migration of this version that does the same; null if another one made it unnecessary. */
  now: string | null
}

/**
 * Migrations that were edited, renamed or withdrawn after databases had run them, before their texts were frozen
 * (`server/migrations/manifest.json`). Do not add to this list.
 */
const pastMigrations: readonly PastMigration[] = [
  // It had one more column, which 0032 drops.
  {
    name: '0026_deliveries',
    checksum: '09b57edd325e122cfcaa1d83270ae32f4829077546af60dcd4edebfded9705fa',
    now: '0026_deliveries',
  },
  // Two migrations had the same number.
  {
    name: '0028_notification_order',
    checksum: '2e72d1730d5e1b3fe9e1299d6fded07496b6c9d92dd25b19d7e930177cef91ed',
    now: '0030_notification_order',
  },
  // It dropped that column before 0032 did.
  {
    name: '0030_lanes_without_count',
    checksum: 'b17f0aa0fcba95c1765a3ecedf4d37ee8053cf19018c464320c8f643dc06343b',
    now: null,
  },
]

/** The applied migrations, mapped to those of this version and in their order. Unknown ones stay as they are. */
export function inOurTerms(
  applied: readonly AppliedMigration[],
  ours: readonly AppliedMigration[],
): AppliedMigration[] {
  return applied
    .flatMap((migration) => {
      const past = pastMigrations.find(
        ({ name, checksum }) => name === migration.name && checksum === migration.checksum,
      )
      if (past === undefined) return [migration]
      const now = ours.find(({ name }) => name === past.now)
      return now === undefined ? [] : [{ name: now.name, checksum: now.checksum }]
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
