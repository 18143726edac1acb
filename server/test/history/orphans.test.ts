import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { exclusiveTag, tagKeys } from '../../src/provisioners/aws-identity-center/own-set.ts'
import { asPromoted } from '../support/history-stage.ts'
import { given, orphanStage } from '../support/orphan-stage.ts'
import { awsTarget, postgresqlTarget, webhookTarget } from '../support/real-targets.ts'
import { until } from '../support/wait.ts'

/** What a sweep does with access that the ledger does not know, besides the plain case. */
test('nothing is ended before the second look, and a person may end it sooner', async (t) => {
  const on = await orphanStage(await postgresqlTarget())
  t.after(on.close)
  const people = [await on.original.person(), await on.original.person()] as const
  const { lost, restored } = await on.losing(async () => {
    return [await given(on.original, people[0]), await given(on.original, people[1])] as const
  })
  await restored.adopt()
  const found = await until('both are found', async () => {
    const orphans = await on.orphansOf(restored)
    return orphans.length === 2 && orphans
  })
  assert.deepEqual(new Set(found.map(({ origin, status }) => `${origin} ${status}`)), new Set(['ours second_look']))
  await restored.sweep()
  await restored.sweep()
  assert.equal((await on.holders()).length, 2)

  const mine = found.find(({ target_key }) => target_key.includes(lost[0].email))
  const ended = await on.end(restored, mine?.id ?? '')
  assert.deepEqual([ended.status, ended.body.status], [200, 'ending'])
  await until('it is ended', async () => (await on.holders()).length === 1)
  assert.deepEqual(await on.holders(), [lost[1].email])
  const [event] = await restored.db.asSuperuser<{ actor_kind: string; key: string }>(
    `select actor_kind, data ->> 'key' as key from event where type = 'provisioner.orphan_ending'`,
  )
  assert.deepEqual([event?.actor_kind, event?.key], ['api_key', mine?.target_key])

  // What was lost is requested again: the grant joins the access, which no sweep ends while it lasts.
  const again = await restored.active(await restored.ask(people[1]))
  await restored.noSecondLook()
  await restored.sweep()
  await restored.sweep()
  assert.deepEqual(await on.holders(), [lost[1].email])
  const refused = await on.end(restored, found.find(({ id }) => id !== mine?.id)?.id ?? '')
  assert.deepEqual([refused.status, refused.body.code], [409, 'orphan_not_endable'])
  await restored.revoke(again)
  await until('then it is ended', async () => {
    await restored.sweep()
    return (await on.holders()).length === 0
  })
})

test('lost access that is requested again before it is found is ended with the new grant', async (t) => {
  const on = await orphanStage(await webhookTarget())
  t.after(on.close)
  const person = await on.original.person()
  const { restored } = await on.losing(() => given(on.original, person))
  await restored.noSecondLook()
  // It is at the target already, so it is active although nothing may be changed there.
  const again = await restored.active(await restored.ask(person))
  await restored.adopt()
  await until('its mark was read', async () => (await on.orphansOf(restored)).length === 1)
  await restored.sweep()
  assert.deepEqual(await on.holders(), [person.email], 'a grant wants it')
  await restored.revoke(again)
  await until('it is ended', async () => {
    await restored.sweep()
    return (await on.holders()).length === 0
  })
})

test('a login of the target that holds the lock of the claims keeps nothing from being ended', async (t) => {
  const target = await postgresqlTarget()
  const on = await orphanStage(target)
  t.after(on.close)
  const held = await given(on.original)
  const attacker = await target.server.signIn('postgres', target.server.password)
  await attacker.query(`select pg_advisory_lock(hashtext('sallyport claims '))`)
  await on.original.sweep()
  await on.original.revoke(held.grant)
  await until('it is ended', async () => (await on.holders()).length === 0)
})

test('more than the bound waits for a person (F18)', async (t) => {
  const on = await orphanStage(await postgresqlTarget())
  t.after(on.close)
  const { lost, restored } = await on.losing(() => Promise.all(Array.from({ length: 21 }, () => given(on.original))))
  await restored.noSecondLook()
  await restored.adopt()
  const held = await until('all are held back', async () => {
    const orphans = await on.orphansOf(restored)
    return orphans.length === lost.length && orphans.every(({ status }) => status === 'held_back') && orphans
  })
  const [event] = await restored.events('provisioner.orphans_held_back')
  assert.deepEqual(event?.data, { found: 21, limit: 20 })
  await restored.sweep()
  assert.equal((await on.holders()).length, lost.length)
  assert.equal((await on.end(restored, held[0]?.id ?? '')).status, 200)
  await until('one is ended', async () => (await on.holders()).length === lost.length - 1)
  await restored.sweep()
  assert.equal((await on.holders()).length, lost.length - 1)
})

test('a target that lists no more keeps what was found there', async (t) => {
  const target = await webhookTarget()
  const on = await orphanStage(target)
  t.after(on.close)
  const { restored } = await on.losing(() => given(on.original))
  await restored.adopt()
  await until('it is found', async () => (await on.orphansOf(restored)).length === 1)
  const config = { url: target.receiver.url, lists: false }
  const changed = await restored.call('PATCH', `/v1/provisioners/${on.tenant.provisioner_id}`, { config })
  assert.equal(changed.status, 200)
  await restored.sweep()
  assert.equal((await on.orphansOf(restored)).length, 1)
})

test('a failover begins an epoch without a person: what it lost is ended, and access goes on', async (t) => {
  const on = await orphanStage(await postgresqlTarget())
  t.after(on.close)
  const known = await given(on.original)
  const file = await on.backUp(on.original)
  await given(on.original)
  await on.original.house.app.stop()
  const promoted = await on.restored(file, asPromoted(on.original))
  await promoted.noSecondLook()
  await until('what was lost is ended', async () => (await on.holders()).length === 1)
  assert.deepEqual(await on.holders(), [known.email])
  const later = await given(promoted)
  assert.deepEqual(await on.holders(), [known.email, later.email].sort())
  assert.equal((await promoted.provisioner()).claim instanceof Object, true)
})

test('a role that two provisioners sign in as proves nothing: a person decides (T18)', async (t) => {
  const on = await orphanStage(await postgresqlTarget())
  t.after(on.close)
  const { restored } = await on.losing(async () => {
    await given(on.original)
    const { provisioner } = on.target
    const other = await on.original.house.tenant('Another, of the same server')
    const body = { ...provisioner, name: 'the same server' }
    const made = await on.original.house.call({
      ...{ method: 'POST', url: '/v1/provisioners', body },
      ...{ api_key: other.owner.api_key, tenant_id: other.tenant_id },
    })
    assert.equal(made.status, 201, made.text)
    // Its first act claims the role.
    const policy = await on.original.house.call({
      ...{ method: 'POST', url: '/v1/policies', body: { name: 'all' } },
      ...{ api_key: other.owner.api_key, tenant_id: other.tenant_id },
    })
    const rule = { policy_text: '@approval_mode("auto") permit (principal, action, resource);' }
    await on.original.house.call({
      ...{ method: 'POST', url: `/v1/policies/${policy.body.id}/rules`, body: rule },
      ...{ api_key: other.owner.api_key, tenant_id: other.tenant_id },
    })
    await on.target.admit('user@example.com')
    const asked = await on.original.house.call({
      ...{ method: 'POST', url: '/v1/requests', body: { ...on.target.wanted, duration_seconds: 3_600 } },
      ...{ token: other.people.user.token, tenant_id: other.tenant_id },
    })
    assert.equal(asked.status, 201, asked.text)
    await until('the other tenant gives access', async () => (await on.holders()).length === 2)
  })
  await restored.noSecondLook()
  await restored.adopt()
  await until('both are listed', async () => (await on.orphansOf(restored)).length === 2)
  await restored.sweep()
  const orphans = await on.orphansOf(restored)
  assert.deepEqual(new Set(orphans.map(({ origin, status }) => `${origin} ${status}`)), new Set(['unproven listed']))
  const refused = await on.end(restored, orphans[0]?.id ?? '')
  assert.deepEqual([refused.status, refused.body.code], [409, 'orphan_not_endable'])
  assert.equal((await on.holders()).length, 2)
})

suite('at AWS', () => {
  test('a forged mark proves nothing, and sets of the organization are listed, exclusive ones first (F17)', async (t) => {
    const target = await awsTarget()
    const { aws } = target
    const on = await orphanStage(target)
    t.after(on.close)
    const { account_id: account } = target.wanted.metadata as { account_id: string }
    const { restored } = await on.losing(async () => {
      await given(on.original)
      const [own] = aws.permissionSets().filter(({ name }) => name.startsWith('sallyport-'))
      // Who may tag sets copies the mark to a set of another, for another person.
      const forged = aws.addPermissionSet('sallyport-forged', own?.tags ?? {})
      assert.ok(own?.tags[tagKeys.signature])
      aws.assignByHand(account, forged, aws.addUser('mallory@example.com'))
      aws.assignByHand(account, own?.arn ?? '', aws.addUser('beside@example.com'))
      const admin = aws.addPermissionSet('Only by Sallyport', { [exclusiveTag]: 'true' })
      aws.assignByHand(account, admin, aws.addUser('admin@example.com'))
      aws.assignByHand(account, aws.addPermissionSet('Usual'), aws.addUser('usual@example.com'))
    })
    await restored.noSecondLook()
    await restored.adopt()
    await until('what is proven is ended', async () => (await on.holders()).length === 4)
    await until('what was ended is listed no more, and then the rest is', async () => {
      await restored.sweep()
      return (await on.orphansOf(restored)).length === 4
    })
    const orphans = await on.orphansOf(restored)
    assert.deepEqual(orphans.map(({ origin, exclusive }) => [origin, exclusive]).sort(), [
      ['foreign_set', false],
      ['foreign_set', true],
      ['unproven', false],
      ['unproven', false],
    ])
    assert.equal(orphans[0]?.exclusive, true)
    assert.equal((await on.holders()).length, 4)
  })

  test('a claim that a party without our key wrote stops what is given, and no end', async (t) => {
    const target = await awsTarget()
    const on = await orphanStage(target)
    t.after(on.close)
    const held = await given(on.original)
    await on.original.sweep()
    const { provisioner_id } = on.tenant
    const forged = `${newId()} 4102444800 ${newId()} 2099-12-31T00:00:00.000Z forged`
    target.aws.tagInstance(`sallyport:claim:${provisioner_id}`, forged)
    await on.original.sweep()
    const asked = await on.original.ask(await on.original.person())
    await until('it waits', async () => {
      const [grant] = (await on.original.get(`/v1/grants?request_id=${asked}`)).data as { last_error: string | null }[]
      return /another party has written over the claim/.test(String(grant?.last_error))
    })
    await on.original.revoke(held.grant)
    await until('it is ended', async () => (await on.holders()).length === 0)
    const claim = (await on.original.provisioner()).claim as { status: string }
    assert.equal(claim.status, 'contested')
  })

  test('a set that is gone before its end is ended without a fault (F19)', async (t) => {
    const target = await awsTarget()
    const { aws } = target
    const on = await orphanStage(target)
    t.after(on.close)
    const { restored } = await on.losing(() => given(on.original))
    await restored.adopt()
    const [found] = await until('it is found', async () => {
      const orphans = await on.orphansOf(restored)
      return orphans.length === 1 && orphans
    })
    for (const { account, set, principal } of aws.assignments()) aws.unassignByHand(account, set, principal)
    for (const { arn, name } of aws.permissionSets()) if (name.startsWith('sallyport-')) aws.removePermissionSet(arn)
    assert.equal((await on.end(restored, found?.id ?? '')).status, 200)
    await until('nothing is left of it', async () => {
      await restored.sweep()
      return (await on.orphansOf(restored)).length === 0
    })
    const failed = await restored.db.asSuperuser('select from entitlement where failures > 0')
    assert.equal(failed.length, 0)
  })
})
