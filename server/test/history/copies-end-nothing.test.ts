import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { asCopyOf, asPromoted, asSnapshotOf, historyStage, type Site } from '../support/history-stage.ts'
import { postgresqlTarget } from '../support/real-targets.ts'
import { until } from '../support/wait.ts'

/** A copy of the database beside the living original ends nothing at the target, and gives nothing there (F16). */
const on = await historyStage(await postgresqlTarget())
after(on.end)
const { original } = on
const { holders } = on.target

/** Access that a service has given. */
async function given(site: Site = original) {
  const person = await site.person()
  return { email: person.email, grant: await site.active(await site.ask(person)) }
}
const says = (site: Site, id: string, what: RegExp) =>
  until(`the grant says ${what}`, async () => what.test(String((await site.grant(id)).last_error)))
const isHeld = async ({ email }: { email: string }) => (await holders()).includes(email)
const isGone = (one: { email: string }) => until('it is gone', async () => !(await isHeld(one)))
const statusOf = async (site: Site) => ((await site.provisioner()).claim as { status: string } | undefined)?.status

/** What a copy is asked to do at the target is not done, while the original goes on. */
async function doesNothing(copy: Site, held: { email: string; grant: string }, why: RegExp): Promise<void> {
  if ((await copy.grant(held.grant)).status === 'active') await copy.revoke(held.grant)
  await copy.retryNow()
  await says(copy, held.grant, why)
  const asked = await copy.ask(await copy.person())
  await until('it waits', async () => {
    const [grant] = (await copy.get(`/v1/grants?request_id=${asked}`)).data as { last_error: string | null }[]
    return grant !== undefined && why.test(String(grant.last_error))
  })
  await copy.sweep()
  assert.ok(await isHeld(held), 'the original still gives it')
  const another = await given()
  await original.revoke(another.grant)
  await isGone(another)
}

test('a restored backup does nothing, until it is adopted', async () => {
  const [held, ended] = [await given(), await given()]
  await original.sweep()
  const copy = await on.restored(await on.backUp(original))
  await original.revoke(ended.grant)
  await isGone(ended)
  assert.equal(await statusOf(copy), 'read_only')
  await doesNothing(copy, held, /^Sallyport changes nothing at targets, since its database was restored/)
  assert.deepEqual(await copy.events('provisioner.drifted'), [])

  await copy.adopt()
  await isGone(held)
  assert.equal(await statusOf(copy), 'held')

  // Both live: the one that was adopted last acts.
  const left = await given(copy)
  await original.sweep()
  assert.equal(await statusOf(original), 'contested')
  const [event] = await original.events('provisioner.contested')
  assert.equal(event?.data.holder_installation, (await copy.db.asSuperuser('select id from installation'))[0]?.id)
  await original.adopt()
  await original.sweep()
  await until('the original acts again', async () => (await statusOf(original)) === 'held')
  assert.equal((await original.events('provisioner.claimed')).length, 1)
  await copy.sweep()
  assert.equal(await statusOf(copy), 'contested')
  await copy.revoke(left.grant)
  await says(copy, left.grant, /another copy of this Sallyport acts at this target/)
  assert.ok(await isHeld(left))
})

test('a copy of the files, which knows the same as the original, finds that it is one', async () => {
  const held = await given()
  await original.sweep()
  const file = await on.backUp(original)
  await original.sweep()
  const copy = await on.restored(file, asSnapshotOf(original))
  await doesNothing(copy, held, /another copy of this Sallyport acts at this target/)
  assert.equal(await statusOf(copy), 'contested')
  const before = await original.events('provisioner.contested')
  assert.equal((await copy.events('provisioner.contested')).length, before.length + 1)
  assert.equal(await statusOf(original), 'held')
})

test('a copy in another database of the server does nothing, also where the original is idle', async () => {
  const held = await given()
  await original.sweep()
  const copy = await on.restored(await on.backUp(original), asCopyOf(original))
  await until('it has found where it is', async () => (await statusOf(copy)) === 'read_only')
  await doesNothing(copy, held, /since its data is in another database than before/)
})

test('an exported tenant that was imported elsewhere does nothing, until it is adopted there', async () => {
  const held = await given()
  await original.sweep()
  const copy = await on.restored(await on.export(original))
  const [ours] = await original.db.asSuperuser('select id from installation')
  const [theirs] = await copy.db.asSuperuser('select id from installation')
  assert.notEqual(ours?.id, theirs?.id)
  await doesNothing(copy, held, /its database was restored/)
})

test('a standby that was promoted beside the original listens first, and finds it', async () => {
  const held = await given()
  await original.sweep()
  const file = await on.backUp(original)
  const copy = await on.restored(file, asPromoted(original), { claimListenMs: 3_600_000 })
  await copy.revoke(held.grant)
  await says(copy, held.grant, /the database was promoted, and another copy of it may act at this target/)
  await original.sweep()
  await doesNothing(copy, held, /another copy of this Sallyport acts at this target/)
  assert.equal(await statusOf(copy), 'contested')
  assert.equal(await statusOf(original), 'held')
})
