import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type Company, foundCompany } from '../kill/company.ts'
import { ask, endSoon } from '../kill/stories.ts'
import { type Field, openField, type Victim } from '../kill/under-fire.ts'
import { startTestServerOn15 } from '../support/server.ts'
import { openSettableClock, skipSettableClock } from '../support/settable-clock.ts'
import { until } from '../support/wait.ts'

const hour = 3_600

/** Access ends at most this late, wherever the clock was set to. */
const maxLateMs = 60_000

suite('two services on a database whose clock is set', { skip: skipSettableClock }, () => {
  let clock: Awaited<ReturnType<typeof openSettableClock>>
  let field: Field<readonly [Victim, Victim]>
  let company: Company
  const stops: (() => Promise<unknown>)[] = []
  before(async () => {
    clock = await openSettableClock()
    stops.push(clock.close)
    const { server, stop } = await startTestServerOn15(clock.env)
    stops.push(stop)
    field = await openField<readonly [Victim, Victim]>(server, 2, 'sandbox')
    stops.push(field.close)
    const base_url = () => field.victims[0].process().base_url
    company = await foundCompany({ ...field, base_url, record: () => undefined })
  })
  after(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  type GrantRow = { id: string; status: string; seconds_left: number }
  async function grantOf(request: string): Promise<GrantRow> {
    const [grant] = await field.query<GrantRow>(
      `select id, status, extract(epoch from expires_at - clock_timestamp())::float8 as seconds_left
        from access_grant where request_id = $1`,
      [request],
    )
    assert.ok(grant)
    return grant
  }
  /** Access of an hour at a place of its own, with so many seconds left. */
  async function given(seconds: number) {
    const place = field.target.place('auto')
    const request = await ask(company.asking[0], place)
    const active = await until('it is active', async () => {
      const grant = await grantOf(request)
      return grant.status === 'active' && grant
    })
    if (seconds < hour) await endSoon(field.query, [active.id], seconds)
    return { request, endsAt: performance.now() + seconds * 1_000 }
  }
  /** Waits until the access is gone at the target. */
  async function gone({ request, endsAt }: Awaited<ReturnType<typeof given>>) {
    const isGone = async () => {
      const [held] = await field.query(
        `select from access_grant g join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
          join sandbox_assignment s on s.tenant_id = e.tenant_id and s.key = e.target_key where g.request_id = $1`,
        [request],
      )
      return held === undefined
    }
    await until('the access is gone', isGone, Math.max(0, endsAt - performance.now()) + maxLateMs)
    return performance.now() - endsAt
  }
  const logged = (victim: Victim) => victim.process().output()
  const setBackMs = async () => {
    const [row] = await field.query<{ ms: number; ends_to_move: boolean }>(
      `select i.clock_back_ms::float8 as ms, exists (select from access_grant g where g.status = 'active'
        and g.clock_back_ms < i.clock_back_ms) as ends_to_move from installation i`,
    )
    assert.ok(row)
    return row.ends_to_move ? undefined : row.ms
  }
  async function clockMs() {
    const [row] = await field.query<{ ms: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as ms')
    return row?.ms ?? 0
  }
  /** Waits until what waits has moved by about so many seconds in all. */
  const moved = (seconds: number) =>
    until('the ends are moved', async () => {
      const ms = await setBackMs()
      return ms !== undefined && Math.abs(ms - seconds * 1_000) < 30_000 && String(ms)
    })

  test('back by an hour: access ends after its time, and what is given afterwards lasts', async (t) => {
    const [short, long] = [await given(25), await given(hour)]
    await clock.set(-hour)
    const total = await moved(hour)
    const fresh = await given(hour)
    const late = await gone(short)
    t.diagnostic(`gone ${(late / 1_000).toFixed(1)} s after its end; the clock went back by ${total} ms, as was seen`)
    assert.ok(late > -5_000, `it ended ${-late} ms early`)
    for (const { request } of [long, fresh]) {
      const { status, seconds_left } = await grantOf(request)
      assert.equal(status, 'active')
      assert.ok(seconds_left > 0 && seconds_left <= hour, `${seconds_left} s left`)
    }
    // As much as is certain: less by what the readings took.
    const says = (victim: Victim) => /the database's clock was set back by 3[56]\d\d s/.test(logged(victim))
    await until('both processes say so', async () => field.victims.every(says))
    assert.equal(await moved(hour), total, 'it was added once')
  })

  test('ahead by an hour: access ends early, and the log says so', async () => {
    const access = await given(60)
    await clock.set(0)
    await gone(access)
    const says = (victim: Victim) => /the database's clock went ahead by 3[56]\d\d s/.test(logged(victim))
    await until('both processes have seen it', async () => field.victims.every(says))
  })

  test('back by an hour while no process runs: the next one sees it', async () => {
    await until('a process has noted the moment after the last jump', async () => {
      const rows = await field.query(
        `select from installation
          where clock_steady_ms > extract(epoch from clock_timestamp()) * 1000 + clock_back_ms - 10000`,
      )
      return rows.length > 0
    })
    const short = await given(20)
    for (const victim of field.victims) {
      victim.process().signal('SIGKILL')
      await victim.process().end()
    }
    await clock.set(-hour)
    await field.victims[0].riseAgain()
    await gone(short)
    const total = await moved(2 * hour)
    // A process that begins adds nothing, whatever processes are gone.
    await field.victims[1].riseAgain()
    const fresh = await given(hour)
    const notedBy = await clockMs()
    await until('both have watched for a while', async () => (await clockMs()) > notedBy + 15_000)
    assert.equal(await moved(2 * hour), total)
    assert.equal((await grantOf(fresh.request)).status, 'active')
  })
})
