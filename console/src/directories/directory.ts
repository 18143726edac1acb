import type { Schemas } from '@sallyport/client'
import { pollAfter, type Run, underWay, waiting } from './run.ts'

/** Where users and groups come from. */
export type Directory = Schemas['IdentityProvider']

/** By what a directory is read; `push`: it pushes over SCIM. */
export type Way = 'push' | 'ldap' | 'scim' | 'center'

/** The types of directory that are read by the protocol that their config names. */
const readTypes: readonly Directory['provider_type'][] = ['directory_a', 'directory_b', 'directory_c']

export function wayOf({ provider_type, config: { protocol } }: Pick<Directory, 'provider_type' | 'config'>): Way {
  if (provider_type === 'cloud_identity_center') return 'center'
  const isRead = readTypes.includes(provider_type) && (protocol === 'ldap' || protocol === 'scim')
  return isRead ? protocol : 'push'
}

/** Who the directory is, beside the way by which it is connected: only some types of those that push have a name of their own. */
export function serviceOf({ provider_type }: Pick<Directory, 'provider_type'>): Service | undefined {
  return provider_type === 'chat_service' || provider_type === 'code_hosting' || provider_type === 'incident_service'
    ? provider_type
    : undefined
}
type Service = 'chat_service' | 'code_hosting' | 'incident_service'

/** Where a directory stands. `silent`: it never called, or was never read. */
export type State = 'off' | 'reading' | 'looking' | 'waits' | 'failed' | 'silent' | 'inOrder'

type Facts = Pick<Directory, 'enabled' | 'sync_status'>

/** The state of a directory. `runs`: its latest, newest first. */
export function stateOf({ enabled, sync_status }: Facts, runs: readonly Run[]): State {
  if (!enabled) return 'off'
  const now = underWay(runs)
  if (now !== undefined) return now.dry_run ? 'looking' : 'reading'
  if (waiting(runs) !== undefined) return 'waits'
  if (sync_status === 'failed') return 'failed'
  return sync_status === 'pending' ? 'silent' : 'inOrder'
}

/** How often a directory is read. */
export type Schedule = { minutes: number } | 'never' | 'notYet'

const usualMinutes = 60

/** By which schedule a directory is read: it begins with the first reading that succeeds and is no look. */
export function scheduleOf({ config, last_synced_at }: Pick<Directory, 'config' | 'last_synced_at'>): Schedule {
  const { sync_interval_minutes: own } = config
  const minutes = typeof own === 'number' ? own : usualMinutes
  if (minutes === 0) return 'never'
  return last_synced_at === null ? 'notYet' : { minutes }
}

/** Whether each reading only looks, by the config. */
export const onlyLooks = ({ config }: Pick<Directory, 'config'>): boolean => config.dry_run === true

/** Where a directory that pushes sends its users. `origin`: the address at which the person reached the service. */
export const scimAddress = (origin: string, id: string): string => `${origin}/scim/v2/${id}`

/** Microsoft's name for "follow the standard": Entra ID sends other forms without it. */
export const entraAddress = (address: string): string => `${address}?aadOptscim062020`

/** What happens where a directory that pushes removes many at once: the owners are notified, or further removals are refused too. */
export const guards = ['notify', 'refuse'] as const

export const guardOf = ({ config }: Pick<Directory, 'config'>): (typeof guards)[number] =>
  config.mass_removals === 'refuse' ? 'refuse' : 'notify'

/** Milliseconds between two looks whether a directory has called for the first time, and how often that is looked at by itself. */
const [callMs, maxCalls] = [4_000, 400]

/**
 * Milliseconds until a directory is loaded again with its runs; false: it stays as it is. No event says that it has called for the first time,
 * for which a person waits who has just entered its key.
 */
export function pollDirectoryAfter(
  directory: Pick<Directory, 'provider_type' | 'config' | 'enabled' | 'sync_status'> | undefined,
  runs: readonly Run[] | undefined,
  polls: number,
  now: number,
): number | false {
  if (directory === undefined) return false
  const isAwaited = wayOf(directory) === 'push' && directory.enabled && directory.sync_status === 'pending'
  if (isAwaited) return polls < maxCalls && callMs
  return pollAfter(runs, polls, now)
}
