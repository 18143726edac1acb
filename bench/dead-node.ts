import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAlone } from '../server/src/db/client/connect.ts'
import { appRole, ownerRole } from '../server/src/db/roles.ts'
import { endLeasesNow } from '../server/test/support/end-leases.ts'
import type { Effort } from './bench.ts'
import { allGone, type Database, lateness, seed, spread, until } from './ends.ts'
import { startService } from './sallyport.ts'
import { makeDatabase, database as name, startPostgres, urlOf } from './stage.ts'

/** Whether a service is working on ends of that instant. */
const inProgress = `select exists (select from entitlement e join access_grant g
    on g.tenant_id = e.tenant_id and g.entitlement_id = e.id
  where g.expires_at = $1::timestamptz and e.lease_until > clock_timestamp()) as met`

/** A revocation this late was taken over from the killed service: a lease is 20 s. */
const takenOverMs = 10_000

/** Two services on one database; once ends of one instant are in progress, one of the two is killed. */
export async function loseOneOfTwo(effort: Effort): Promise<string[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    const { as, superuser, stop } = await startPostgres(folder)
    stops.push(stop)
    await makeDatabase(as(superuser, 'postgres'), as(superuser, name), as(ownerRole, name))
    const SECRET_KEY = randomBytes(32).toString('base64')
    const start = (which: string) =>
      startService({
        DATA_DIR: join(folder, which),
        DATABASE_URL: urlOf(as(appRole, name)),
        PUBLIC_URL: 'http://127.0.0.1',
        SECRET_KEY,
        LOG_LEVEL: 'warn',
      })
    const dying = await start('dying')
    stops.push(dying.kill)
    const staying = await start('staying')
    stops.push(staying.stop)
    const database: Database = await connectAlone(as(superuser, name))
    stops.push(() => database.end())
    const instant = await seed(database, effort, effort.isMiniature ? 3 : 50)
    await until(database, inProgress, instant, 5)
    await dying.kill()
    if (effort.isMiniature) {
      await endLeasesNow(async (text, values) => (await database.query(text, values)).rows, ['entitlement'])
    }
    await until(database, allGone, instant, 200)
    const { dispatched, gone } = await lateness(database, instant)
    if (dispatched.length !== effort.grants) {
      throw new Error(`${dispatched.length} of ${effort.grants} revocations were dispatched`)
    }
    const orphans = dispatched.filter((ms) => ms > takenOverMs)
    return [
      ['one of two is killed: dispatched after its end', ...spread(dispatched)],
      ['one of two is killed: gone after its end', ...spread(gone)],
      ...(orphans.length === 0 ? [] : [['of these, taken over from the killed service', ...spread(orphans)]]),
    ]
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}
