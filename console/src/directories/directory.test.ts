import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  type Directory,
  entraAddress,
  guardOf,
  pollDirectoryAfter,
  type Schedule,
  type State,
  scheduleOf,
  scimAddress,
  serviceOf,
  stateOf,
  type Way,
  wayOf,
} from './directory.ts'
import type { Run } from './run.ts'

suite('the way of a directory', () => {
  const cases: [provider_type: Directory['provider_type'], config: Directory['config'], expected: Way][] = [
    ['custom_scim', {}, 'push'],
    ['custom_scim', { protocol: 'ldap' }, 'push'],
    ['directory_a', {}, 'push'],
    ['directory_a', { protocol: 'ldap' }, 'ldap'],
    ['directory_c', { protocol: 'scim' }, 'scim'],
    ['directory_b', { protocol: '[redacted]' }, 'push'],
    ['cloud_identity_center', {}, 'center'],
    ['chat_service', {}, 'push'],
  ]
  for (const [provider_type, config, expected] of cases)
    test(`${provider_type} with ${JSON.stringify(config)} is ${expected}`, () =>
      assert.equal(wayOf({ provider_type, config }), expected))

  test('is named with the service where the type says which it is', () => {
    assert.equal(serviceOf({ provider_type: 'code_hosting' }), 'code_hosting')
    assert.equal(serviceOf({ provider_type: 'custom_scim' }), undefined)
  })
})

suite('the state of a directory', () => {
  const run = (more: Partial<Run>) =>
    ({
      status: 'synced',
      dry_run: false,
      needs_confirmation: false,
      finished_at: '2026-11-26T12:00:00Z',
      ...more,
    }) as Run
  const going = run({ status: 'syncing', finished_at: null })
  const stopped = run({ status: 'failed', needs_confirmation: true })
  const cases: [what: string, facts: Parameters<typeof stateOf>[0], runs: Run[], expected: State][] = [
    ['that is switched off', { enabled: false, sync_status: 'failed' }, [stopped], 'off'],
    ['that is read', { enabled: true, sync_status: 'syncing' }, [going], 'reading'],
    ['that is looked at', { enabled: true, sync_status: 'synced' }, [{ ...going, dry_run: true }], 'looking'],
    ['of which too many would go', { enabled: true, sync_status: 'failed' }, [stopped], 'waits'],
    ['of which a look found that', { enabled: true, sync_status: 'pending' }, [{ ...stopped, dry_run: true }], 'waits'],
    ['that failed', { enabled: true, sync_status: 'failed' }, [run({ status: 'failed' })], 'failed'],
    ['that never called', { enabled: true, sync_status: 'pending' }, [], 'silent'],
    ['that was only looked at', { enabled: true, sync_status: 'pending' }, [run({ dry_run: true })], 'silent'],
    ['that calls', { enabled: true, sync_status: 'synced' }, [], 'inOrder'],
    ['that was read', { enabled: true, sync_status: 'synced' }, [run({})], 'inOrder'],
  ]
  for (const [what, facts, runs, expected] of cases)
    test(`${what} is ${expected}`, () => assert.equal(stateOf(facts, runs), expected))
})

suite('the schedule of a directory', () => {
  const at = '2026-11-26T12:00:00Z'
  const cases: [minutes: number | undefined, last_synced_at: string | null, expected: Schedule][] = [
    [undefined, at, { minutes: 60 }],
    [15, at, { minutes: 15 }],
    [15, null, 'notYet'],
    [0, at, 'never'],
    [0, null, 'never'],
  ]
  for (const [minutes, last_synced_at, expected] of cases)
    test(`of ${minutes} min is ${JSON.stringify(expected)} where it was last read ${last_synced_at ?? 'never'}`, () =>
      assert.deepEqual(
        scheduleOf({ config: minutes === undefined ? {} : { sync_interval_minutes: minutes }, last_synced_at }),
        expected,
      ))
})

test('the address of a directory is below that of the service, and Entra ID follows the standard by its end', () => {
  const address = scimAddress('https://access.example.com', 'd1')
  assert.equal(address, 'https://access.example.com/scim/v2/d1')
  assert.equal(entraAddress(address), 'https://access.example.com/scim/v2/d1?aadOptscim062020')
})

suite('a directory is loaded again', () => {
  const push = { provider_type: 'custom_scim', config: {}, enabled: true, sync_status: 'pending' } as const
  const read = { ...push, provider_type: 'directory_a', config: { protocol: 'ldap' } } as const
  const going = { status: 'syncing', requested_by: 'u1', finished_at: null } as Run
  type Awaited = Parameters<typeof pollDirectoryAfter>[0]
  const cases: [what: string, directory: Awaited, runs: Run[], polls: number, expected: boolean][] = [
    ['until it has called', push, [], 1, true],
    ['not after it has called', { ...push, sync_status: 'synced' }, [], 1, false],
    ['not while it is switched off', { ...push, enabled: false }, [], 1, false],
    ['not without end', push, [], 400, false],
    ['while it is read', read, [going], 1, true],
    ['not before it is read', read, [], 1, false],
    ['not before it was loaded', undefined, [], 0, false],
  ]
  for (const [what, directory, runs, polls, expected] of cases)
    test(what, () => assert.equal(pollDirectoryAfter(directory, runs, polls, 0) !== false, expected))
})

test('many who leave at once may go, unless the config refuses them', () => {
  assert.equal(guardOf({ config: {} }), 'notify')
  assert.equal(guardOf({ config: { mass_removals: 'refuse' } }), 'refuse')
})
