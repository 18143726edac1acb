import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  changeStreams,
  hasMissed,
  hintsIn,
  insertGroupEvents,
  lastIdIn,
  receives,
} from '../../test/support/change-stage.ts'
import { openHouse, type TestTenant } from '../../test/support/house.ts'
import { untilEventsSettle } from '../../test/support/settled.ts'
import { until } from '../../test/support/wait.ts'
import { connectAlone } from '../db/client/connect.ts'
import { newId } from '../kernel/id.ts'
import { beginning } from '../notifications/notification-store.ts'
import { feedLength } from './change-feed.ts'

const house = await openHouse()
const { follow } = await changeStreams(house)

/** Events about groups `<name>1`, `<name>2`, … in one transaction. Returns the hints at them. */
async function change({ tenant_id }: TestTenant, name: string, count = 1): Promise<string[]> {
  await house.asSuperuser(insertGroupEvents, [tenant_id, name, count])
  return Array.from({ length: count }, (_, index) => `group ${name}${index + 1}`)
}

const openTenant = async () => {
  const tenant = await house.tenant('resume')
  await untilEventsSettle(house)
  return tenant
}

suite('a stream of changes resumes', { concurrency: false }, () => {
  test('after the last id it got, without a gap, without repeating what it had', async () => {
    const tenant = await openTenant()
    const stream = await follow(tenant.tenant_id, tenant.owner)
    await receives(stream, ...(await change(tenant, 'a', 3)))
    stream.close()
    const missed = [...(await change(tenant, 'b', 2)), ...(await change(tenant, 'c'))]
    await untilEventsSettle(house)
    const again = await follow(tenant.tenant_id, tenant.owner, lastIdIn(stream))
    await receives(again, ...missed, ...(await change(tenant, 'd')))
    assert.deepEqual(hintsIn(again), [...missed, 'group d1'])
    assert.equal(hasMissed(again), false)
    // From the middle, too.
    const middle = await follow(
      tenant.tenant_id,
      tenant.owner,
      again.events().find(({ data }) => data?.id === 'b2')?.id,
    )
    await receives(middle, 'group d1')
    assert.deepEqual(hintsIn(middle), ['group c1', 'group d1'])
  })

  test('even if nothing had arrived, and other streams of the tenant are open', async () => {
    const tenant = await openTenant()
    const open = await follow(tenant.tenant_id, tenant.people.admin)
    const stream = await follow(tenant.tenant_id, tenant.owner)
    stream.close()
    const missed = await change(tenant, 'a', 2)
    await receives(open, ...missed)
    const again = await follow(tenant.tenant_id, tenant.owner, lastIdIn(stream))
    await receives(again, ...missed)
    assert.deepEqual([hintsIn(again), hasMissed(again)], [missed, false])
  })

  test('both changes and notifications by one id', async () => {
    const tenant = await openTenant()
    const { tenant_id, owner } = tenant
    const stream = await follow(tenant_id, owner)
    const first = await house.notification(tenant_id, owner.user_id)
    await receives(stream, ...(await change(tenant, 'a')))
    await until('the notification has come', async () => stream.events().some(({ data }) => data?.id === first))
    stream.close()
    await change(tenant, 'b')
    const second = await house.notification(tenant_id, owner.user_id)
    await untilEventsSettle(house)
    const again = await follow(tenant_id, owner, lastIdIn(stream))
    const notified = () => again.events().flatMap(({ event, data }) => (event === 'notification' ? [data?.id] : []))
    await until('the second notification has come', async () => notified().includes(second))
    await receives(again, 'group b1')
    assert.deepEqual([notified(), hasMissed(again)], [[second], false])
    // The request of each notification is an event of its own, before it.
    assert.ok(!hintsIn(again).includes('group a1'))
  })

  test('in the order of the commits: an event that commits late is not skipped', async () => {
    const tenant = await openTenant()
    const { tenant_id, owner } = tenant
    const stream = await follow(tenant_id, owner)
    const slow = await connectAlone(house.service)
    house.atEnd(() => slow.end())
    await slow.query('begin')
    await slow.query(`select set_config('app.tenant_id', $1, true)`, [tenant_id])
    await slow.query(insertGroupEvents, [tenant_id, 'late', 1])
    await change(tenant, 'after', 2)
    // Meanwhile the checks go on, and another stream that resumes gets nothing either.
    const reopened = await follow(tenant_id, owner, lastIdIn(stream))
    assert.deepEqual([hintsIn(stream), hintsIn(reopened)], [[], []])
    reopened.close()
    await slow.query('commit')
    const all = ['group late1', 'group after1', 'group after2']
    await receives(stream, ...all)
    assert.deepEqual(hintsIn(stream), all)
    const again = await follow(tenant_id, owner, lastIdIn(reopened))
    await receives(again, ...all)
    const middle = await follow(tenant_id, owner, stream.events().find(({ data }) => data?.id === 'late1')?.id)
    await receives(middle, 'group after2')
    assert.deepEqual([hintsIn(again), hintsIn(middle)], [all, all.slice(1)])
  })
})

suite('a stream of changes has missed some', { concurrency: false }, () => {
  /** Opens a stream with this id: it has missed some, once, and goes on from now. */
  async function misses(tenant: TestTenant, last: string): Promise<void> {
    const stream = await follow(tenant.tenant_id, tenant.owner, last)
    assert.equal(stream.events()[0]?.event, 'missed', stream.text())
    assert.match(stream.events()[0]?.id ?? '', /^[\w-]{132}$/)
    const name = newId()
    await receives(stream, ...(await change(tenant, name)))
    assert.deepEqual(hintsIn(stream), [`group ${name}1`])
    assert.equal(stream.events().filter(({ event }) => event === 'missed').length, 1)
    stream.close()
  }

  test('when more events have come than a process keeps, and not with one less', async () => {
    const tenant = await openTenant()
    const { tenant_id, owner } = tenant
    const first = await follow(tenant_id, owner)
    first.close()
    // Of one record: many events, one hint.
    for (let count = 0; count < feedLength - 1; count += 50) {
      await house.asSuperuser(insertGroupEvents.replace('$2 || one', '$2'), [
        tenant_id,
        'same',
        Math.min(50, feedLength - 1 - count),
      ])
    }
    await untilEventsSettle(house)
    const last = lastIdIn(first)
    const enough = await follow(tenant_id, owner, last)
    await receives(enough, 'group same')
    assert.deepEqual([hintsIn(enough), hasMissed(enough)], [['group same'], false])
    enough.close()
    await until('its feed is closed', async () => house.app.listening() === 0)
    await change(tenant, 'one', 1)
    await untilEventsSettle(house)
    await misses(tenant, last)
  })

  test('when more records have changed than are worth a hint each', async () => {
    const tenant = await openTenant()
    const stream = await follow(tenant.tenant_id, tenant.owner)
    await change(tenant, 'many', 101)
    await until('it has missed some', async () => hasMissed(stream))
    assert.deepEqual(hintsIn(stream), [])
    await receives(stream, ...(await change(tenant, 'next', 100)))
    stream.close()
    // The id of `missed` is the place from which it goes on.
    const [missed] = stream.events().filter(({ event }) => event === 'missed')
    const again = await follow(tenant.tenant_id, tenant.owner, missed?.id)
    await receives(again, 'group next1', 'group next100')
    assert.equal(hasMissed(again), false)
  })

  test('with an id that is forged, another tenant’s, or another user’s: it reveals nothing (T14)', async () => {
    const [tenant, other] = [await openTenant(), await openTenant()]
    const theirs = await follow(other.tenant_id, other.owner)
    await receives(theirs, ...(await change(other, 'theirs')))
    const own = lastIdIn(await follow(tenant.tenant_id, tenant.owner))
    const admins = lastIdIn(await follow(tenant.tenant_id, tenant.people.admin))
    const former = `${'0'.repeat(16)}.${beginning.id}.${'0'.repeat(8)}`
    const forged = [own.slice(0, -1), `${own}'`, former, 'x'.repeat(5_000)]
    for (const id of [lastIdIn(theirs), admins, ...forged]) await misses(tenant, id)
  })
})

suite('a stream of changes shows nothing of what its reader may not see', { concurrency: false }, () => {
  test('its ids differ each time and have one length, whether or not others did something (T14)', async () => {
    const tenant = await openTenant()
    const { tenant_id, people } = tenant
    const watching = await follow(tenant_id, tenant.owner)
    const idAfter = async (last?: string) => lastIdIn(await follow(tenant_id, people.user, last))
    const first = await idAfter()
    const before = [first, await idAfter(first)]
    await receives(watching, ...(await change(tenant, 'hidden')))
    const ids = [...before, await idAfter(first), await idAfter()]
    assert.equal(new Set(ids).size, ids.length)
    assert.deepEqual(new Set(ids.map(({ length }) => length)), new Set([first.length]))
  })

  test('an open one gets nothing for the events of others, however many (T14)', async () => {
    const tenant = await openTenant()
    const { tenant_id, owner, people } = tenant
    const beganAt = performance.now()
    const [stream, watching] = [await follow(tenant_id, people.user), await follow(tenant_id, owner)]
    for (let count = 0; count < 3; count += 1) await receives(watching, ...(await change(tenant, `part${count}-`, 100)))
    // Its own notification comes after all of them.
    await house.notification(tenant_id, people.user.user_id)
    await until('the notification has come', async () => stream.ids().length > 0)
    const tookMs = performance.now() - beganAt
    const named = stream.events().flatMap(({ event }) => event ?? [])
    assert.deepEqual(named, ['notification'])
    // Time alone brings more: an empty line every 15 s, and its place every 60 s.
    const places = stream.events().length - named.length
    const emptyLines = stream.text().match(/^:/gm)?.length ?? 0
    assert.ok(places - 1 <= tookMs / 60_000, `${places} places in ${tookMs} ms`)
    assert.ok(emptyLines <= tookMs / 15_000, `${emptyLines} empty lines in ${tookMs} ms`)
    // And it is at its place.
    stream.close()
    assert.equal(hasMissed(await follow(tenant_id, people.user, lastIdIn(stream))), false)
  })
})
