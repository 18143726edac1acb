import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connectAlone } from '../server/src/db/client/connect.ts'
import { approvalsOf } from './approved-meanwhile.ts'
import type { Bench, Effort } from './bench.ts'
import { dispatchesOf, seedAccess } from './directory-access.ts'
import { type Directory, importPeople, inTurns, makeDirectory, type Person } from './directory-people.ts'
import { embeddedTarget } from './embedded.ts'
import { type Database, spread } from './ends.ts'
import { gather, startService } from './sallyport.ts'

/** A client sends this many calls at once. One that sends everything at the same moment has `connections`. */
const [callsAtOnce, connections] = [8, 256]

/** `leaving`: how many people leave, one time after another, and how many calls there are at once. */
const sizes = ({ isMiniature }: Effort) =>
  isMiniature
    ? {
        people: 120,
        groups: 10,
        leaving: [
          [5, 5],
          [20, 20],
          [10, callsAtOnce],
        ] as const,
      }
    : {
        people: 10_000,
        groups: 1_000,
        leaving: [
          [300, 300],
          [1_000, 1_000],
          [300, callsAtOnce],
        ] as const,
      }

/**
 * A directory of many people, on the real service with the embedded database and the sandbox: its import, its searches, and people who
 * leave at once while requests are approved. Each leaver has a session and a live grant.
 */
export const directory: Bench = {
  summary:
    '10,000 people by SCIM: their import, searches, and the delay of revocations when 300 and 1,000 leave at once',
  async run(effort, say) {
    const { people, groups, leaving } = sizes(effort)
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'warn' })
    try {
      const { tenant_id, owner, approver } = await gather(service.base_url, folder)
      const caller = { tenant_id, token: owner.token }
      const scim = await makeDirectory(service, caller, connections)
      const imported = await importPeople(scim, { people, groups, atOnce: callsAtOnce }, say)
      const database = await connectAlone(await embeddedTarget(folder))
      // Else the end of the service would hide why the bench ends.
      database.on('error', () => undefined)
      const rows = await searches(scim, effort)
      const approvals = approvalsOf(service.base_url, { requester: caller, approver: { ...caller, ...approver } })
      const left = imported.people.values()
      await approvals.during(pause(effort.seconds * 500))
      const quiet = await approvals.during(pause(effort.seconds * 5_000))
      rows.push(['an approval, quiet', ...spread(quiet)])
      for (const [count, atOnce] of leaving) {
        const leavers = left.take(count).toArray()
        await seedAccess(database, tenant_id, leavers)
        say(`${count} people leave, ${atOnce} at once`)
        rows.push(...(await leave({ scim, database, approvals }, leavers, atOnce)))
      }
      await database.end()
      const notes = [
        `The import, ${callsAtOnce} calls at once: ${people} people in ${imported.peopleSeconds.toFixed(1)} s, ` +
          `${groups} groups of 20 members in ${imported.groupsSeconds.toFixed(1)} s.`,
        'Dispatched: from the start of the call that stops a user until the sandbox records the call that revokes their grant. Where all ' +
          `leave at once, all calls start at the same moment, over ${connections} connections. Approved meanwhile: 10 requests a second, ` +
          'whose grants are begun as well.',
      ]
      return { columns: ['ms', 'p50', 'p90', 'p99', 'max', 'count'], rows, notes }
    } finally {
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

type Parts = { scim: Directory; database: Database; approvals: ReturnType<typeof approvalsOf> }

async function leave(
  { scim, database, approvals }: Parts,
  leavers: readonly Person[],
  atOnce: number,
): Promise<string[][]> {
  const began = new Map<string, number>()
  const answered: number[] = []
  const now = () => performance.timeOrigin + performance.now()
  const stop = async ({ id }: Person) => {
    const start = now()
    began.set(id, start)
    await scim.call('PATCH', `/Users/${id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] })
    answered.push(now() - start)
  }
  const all = inTurns(leavers.length, atOnce, (place) => stop(leavers[place] as Person))
  const dispatched = all.then(() => dispatchesOf(database, leavers))
  const approved = await approvals.during(dispatched)
  const delays = [...(await dispatched)].map(([id, ms]) => ms - (began.get(id) ?? Number.NaN))
  const who = `${leavers.length} leave, ${atOnce === leavers.length ? 'all' : atOnce} at once`
  return [
    [`${who}: answered`, ...spread(answered)],
    [`${who}: dispatched`, ...spread(delays)],
    [`${who}: an approval meanwhile`, ...spread(approved)],
  ]
}

const filters = [
  'userName eq "p000042@directory.example"',
  'userName sw "p0000"',
  'userName pr',
  'userName co "0042"',
  'userName ew "42@directory.example"',
  'userName ne "p000042@directory.example"',
  'not (userName eq "p000042@directory.example")',
  'userName eq "p000042@directory.example" or externalId eq "e000043"',
  'userName co "0042" or title ew "7"',
  'emails[type eq "work" and value eq "p000042@directory.example"]',
  'active eq true',
]

/** Milliseconds of searches, one after another. */
async function searches({ call }: Directory, { isMiniature }: Effort): Promise<string[][]> {
  const rows: string[][] = []
  for (const filter of filters) {
    const query = new URLSearchParams({ filter, count: '100' })
    const took: number[] = []
    let total = 0
    for (let times = 0; times < (isMiniature ? 3 : 30); times += 1) {
      const began = performance.now()
      const found = await call('GET', `/Users?${query}`)
      took.push(performance.now() - began)
      total = Number(found.totalResults)
    }
    rows.push([`\`${filter}\`, ${total} found`, ...spread(took)])
  }
  return rows
}
