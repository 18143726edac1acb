import { newId } from '../../src/kernel/id.ts'
import type { Insert, People } from './backup-seed.ts'

/** A directory with a user and a group, and what a reading of it did. */
export async function seedDirectory(insert: Insert, { anna: user_id, ben }: People, trickyJson: string): Promise<void> {
  const [identity_provider_id, group_id, run_id] = [newId(), newId(), newId()]
  await insert('identity_provider', {
    id: identity_provider_id,
    name: 'd',
    provider_type: 'custom_scim',
    configured_by: ben,
  })
  const known = { identity_provider_id, external_id: '☃ "' }
  const resource = trickyJson
  await insert('directory_user', { user_id, ...known, user_name_key: 'anna', resource, manager_key: 'ben' })
  await insert('directory_value', { user_id, identity_provider_id, path: 'userName', key: 'anna ☃', element: 0 })
  await insert('tenant_group', { id: group_id, name: 'd', source: 'scim' })
  await insert('directory_group', { group_id, ...known, display_name: 'D ☃', display_name_key: 'd ☃' })
  await insert('directory_removal', { id: newId(), identity_provider_id, size: 7 })
  await insert('sync_run', {
    ...{ id: run_id, identity_provider_id, status: 'synced', requested_by: ben, people_read: 7, total: 7, done: 7 },
    ...{ counts: trickyJson, started_at: '2026-01-02T03:04:05.678901Z', finished_at: '2026-01-02T03:04:06.000001Z' },
  })
  await insert('sync_person', {
    ...{ run_id, source_id: 'ä ☃', user_name: 'anna ☃', name: '"Anna"', email: 'anna@example.com', active: true },
    ...{ email_keys: '{"a,b","☃"}', mail_domain: 'example.com', resource, user_id, change: 'change', done: true },
  })
  await insert('sync_group', {
    run_id,
    source_id: 'g ☃',
    name: 'G ☃',
    group_id,
    change: 'add',
    message: 'x',
    done: true,
  })
  await insert('sync_member', { run_id, group_source_id: 'g ☃', person_source_id: 'ä ☃' })
  await insert('directory_conflict', {
    id: newId(),
    identity_provider_id,
    user_name_key: 'ben',
    resource,
    user_id: ben,
  })
}
