import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { insertNotifications } from './notification-store.ts'

const house = await openHouse()

test('an insert deletes what is older than half a year in its tenant, and nothing else', async () => {
  const [acme, other] = [await house.tenant('Acme'), await house.tenant('Other')]
  const agedNotification = async (tenant: typeof acme, days: number) => {
    const [row] = await house.asSuperuser<{ id: string; event_id: string }>(
      `with aged as (select clock_timestamp() - make_interval(days => $2) as at)
        update notification set created_at = aged.at, id = overlay(id::text placing
          regexp_replace(lpad(to_hex((extract(epoch from aged.at) * 1000)::bigint), 12, '0'), '(.{8})', '\\1-')
          from 1 for 13)::uuid
        from aged where notification.id = $1 returning id, event_id`,
      [await house.notification(tenant.tenant_id, tenant.people.user.user_id), days],
    )
    assert.ok(row)
    return row
  }
  const [, young, foreign] = [
    await agedNotification(acme, 181),
    await agedNotification(acme, 179),
    await agedNotification(other, 181),
  ]
  await insertNotifications(house.database.tenant(acme.tenant_id), [
    {
      ...{
        user_id: acme.owner.user_id,
        event_id: young.event_id,
        event_type: 'request.created',
        title: 't',
        body: 'b',
        mail_kind: null,
      },
      ...{ resource_type: 'access_request', resource_id: acme.tenant_id },
    },
  ])
  const left = await house.asSuperuser<{ id: string; user_id: string }>(
    'select id, user_id from notification where tenant_id = any($1) order by id',
    [[acme.tenant_id, other.tenant_id]],
  )
  assert.deepEqual(
    left.map(({ id, user_id }) => (user_id === acme.owner.user_id ? 'the new one' : id)),
    [foreign.id, young.id, 'the new one'],
  )
})
