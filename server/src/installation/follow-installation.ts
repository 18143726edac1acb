import type { Database } from '../db/transaction.ts'
import type { Tick } from '../jobs/loop.ts'
import { type Installation, type InstallationState, saysReadOnly } from './installation.ts'
import { recognizeInstallation } from './installation-store.ts'

/** After an adoption, each process acts again within this time. */
const everyMs = 2_000

/** While nothing is changed at targets, the log says so this often. */
const logAgainMs = 60_000

type Log = { warn(line: string): void; info(line: string): void }

/** Keeps what the database says of its installation. */
export function openInstallation({ service }: Pick<Database, 'service'>): InstallationState {
  let known: Installation | undefined
  const check = async () => {
    known = await recognizeInstallation(service)
    return known
  }
  return { now: async () => known ?? check(), check }
}

type Following = {
  log: Log
  /** Called in each epoch in which targets may be changed, and by each process: what it begins is begun once. */
  onEpoch(): Promise<unknown>
  now?: () => number
}

/** Keeps the state recent, and has the log say while nothing is changed at targets, and when that is over. */
export function followInstallation(
  state: InstallationState,
  { log, onEpoch, now = () => performance.now() }: Following,
): Tick {
  let checkedAt = Number.NEGATIVE_INFINITY
  let loggedAt: number | undefined
  let begun: number | undefined
  return async () => {
    if (now() - checkedAt < everyMs) return everyMs
    checkedAt = now()
    const { read_only, epoch } = await state.check()
    if (read_only === null && begun !== epoch) {
      await onEpoch()
      begun = epoch
    }
    if (read_only !== null && (loggedAt === undefined || now() - loggedAt >= logAgainMs)) {
      loggedAt = now()
      log.warn(saysReadOnly(read_only.reason))
    }
    if (read_only === null && loggedAt !== undefined) {
      loggedAt = undefined
      log.info('this is the original: Sallyport changes access at targets again')
    }
    return everyMs
  }
}
