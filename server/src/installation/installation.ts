/**
 * Which installation of Sallyport this is, and whether it may act at targets. A restore, a copy and a failover can lose what the database
 * knew; then a new epoch begins.
 */

/** Written at targets, with what is given there. `epoch`: the second in which it began, since 1970. */
export type Mark = { installation: string; epoch: number }

/** `restored`: by `npm run restore`; `moved`: its rows are in another database than before. */
export type ReadOnlyReason = 'restored' | 'moved'

export type Installation = Readonly<{
  id: string
  epoch: number
  /** The epoch that began when the operator said that this is the original; null: that was never in question. */
  adopted_epoch: number | null
  /** Nothing is changed at targets since then; null: it may be. */
  read_only: { since: string; reason: ReadOnlyReason } | null
}>

/** The state of this installation, which may change while the service runs. */
export type InstallationState = {
  /** As of some seconds ago at most, while the database answers. */
  now(): Promise<Installation>
  /** Reads it again, and begins a new epoch where the database is not the one of before. */
  check(): Promise<Installation>
}

const why: Readonly<Record<ReadOnlyReason, string>> = {
  restored: 'its database was restored from a backup',
  moved: 'its data is in another database than before',
}

/** What an operator does about it, as a sentence. */
export function saysReadOnly(reason: ReadOnlyReason): string {
  return (
    `Sallyport changes nothing at targets, since ${why[reason]}: ` +
    'if no other copy of it runs, its operator types `npm run admin -- adopt`'
  )
}
