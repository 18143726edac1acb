import { type Command, InvalidArgumentError } from 'commander'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/transaction.ts'
import { openBeforeUpgrade } from '../embedded-postgres/open-database.ts'
import { replayUpgrade } from '../policy-analysis/replay/replay-upgrade.flow.ts'
import { listTenantNames } from '../tenants/operator.flow.ts'
import { readNow } from '../tenants/tenant-store.ts'
import type { Output } from './output.ts'
import { withPauses } from './pause.ts'
import { progressTo } from './progress.ts'
import { describeUpgrade, maxShown, type TenantUpgrade } from './upgrade-report.ts'

/** The last migration that the reading needs: the command runs on databases of every version since. */
export const neededMigration = '0039_tenant_mode'

/** With --json, so many changed questions of a tenant are listed. */
const maxListed = 1_000
const [usualDays, maxDays] = [30, 90]
const dayMs = 24 * 3_600_000

type Answer = (
  work: (database: Database) => Promise<Output>,
  open: (config: Config, log: (message: string) => void) => ReturnType<typeof openBeforeUpgrade>,
) => Promise<void>

/** Adds the command that an operator runs before an upgrade. `answer` runs its work and prints its output. */
export function addReplayUpgradeCommand(program: Command, answer: Answer): void {
  program
    .command('replay-upgrade')
    .description(
      'before an upgrade: which recorded questions of the last days this version decides differently from the one ' +
        'before; changes nothing; docs/guides/policy-replay.md says what to do',
    )
    .option('--days <number>', `whole days, from 1 to ${maxDays}`, readDays, usualDays)
    .option('--tenant <tenant>', 'only this tenant, by its id or its slug')
    .action(({ days, tenant }: { days: number; tenant?: string }) => {
      const listed = program.opts<{ json?: boolean }>().json === true ? maxListed : maxShown
      return answer(
        (database) =>
          withPauses((pause) => replayTenants(database, { days, tenant, listed }, { log: console.error, pause })),
        (config, log) => openBeforeUpgrade(config, log, neededMigration),
      )
    })
}

function readDays(text: string): number {
  const days = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (days < 1 || days > maxDays) throw new InvalidArgumentError(`write a whole number from 1 to ${maxDays}`)
  return days
}

async function replayTenants(
  database: Database,
  { days, tenant, listed }: { days: number; tenant: string | undefined; listed: number },
  { log, pause }: { log(line: string): void; pause: (ms: number) => Promise<void> },
): Promise<Output> {
  const tenants = await listTenantNames(database, tenant)
  const progress = progressTo(log)
  const replayed: TenantUpgrade[] = []
  for (const { id, name } of tenants) {
    const tx = database.tenant(id)
    const until = await readNow(tx)
    const span = { since: new Date(until.getTime() - days * dayMs), until }
    const onPage = (compared: number, total: number) => {
      const at = `tenant ${replayed.length + 1} of ${tenants.length}`
      progress(() => `${at}: ${compared.toLocaleString('en')} of ${total.toLocaleString('en')} questions`)
      // Here a first Ctrl-C ends the command.
      return pause(0)
    }
    replayed.push({ tenant_id: id, name, ...(await replayUpgrade(tx, span, { maxListed: listed, onPage })) })
  }
  return { text: describeUpgrade(days, replayed), data: { days, tenants: replayed } }
}
