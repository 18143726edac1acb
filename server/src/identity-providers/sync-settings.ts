import type { FaultyField } from '../kernel/errors.ts'

/** Minutes between two runs. */
const defaultIntervalMinutes = 60
const minIntervalMinutes = 5
const maxIntervalMinutes = 10_080

/** What a config says of sync runs. `interval_minutes`: 0 for no schedule. */
export type SyncSettings = { interval_minutes: number; groups: boolean; dry_run: boolean }

export function syncSettingsOf(config: Readonly<Record<string, unknown>>): SyncSettings {
  const { sync_interval_minutes: minutes, sync_groups, dry_run } = config
  const interval_minutes = isInterval(minutes) ? minutes : defaultIntervalMinutes
  return { interval_minutes, groups: sync_groups !== false, dry_run: dry_run === true }
}

/** The faults of these settings, in a config with its secrets unsealed: a value of another type is kept as a secret. */
export function findSettingsFaults(config: Readonly<Record<string, unknown>>): FaultyField[] {
  const { sync_interval_minutes: minutes } = config
  const why = `must be a whole number from ${minIntervalMinutes} to ${maxIntervalMinutes}, or 0 for no schedule`
  return [
    ...(minutes === undefined || isInterval(minutes) ? [] : [{ pointer: '/config/sync_interval_minutes', why }]),
    ...Object.entries(unknown).flatMap(([name, why]) =>
      config[name] === undefined ? [] : [{ pointer: `/config/${name}`, why }],
    ),
    ...['dry_run', 'sync_groups'].flatMap((name) => {
      const value = config[name]
      const isFlag = value === undefined || typeof value === 'boolean'
      return isFlag ? [] : [{ pointer: `/config/${name}`, why: 'must be `true` or `false`' }]
    }),
  ]
}

/** Settings that one might expect, and that would not do what they seem to. */
const unknown = {
  sync_users: 'is not a setting: users are always read; leave it out',
  sync_interval_seconds: 'is not a setting: use `sync_interval_minutes`',
  schedule: 'is not a setting: use `sync_interval_minutes`',
} as const

function isInterval(value: unknown): value is number {
  if (value === 0) return true
  return (
    typeof value === 'number' && Number.isInteger(value) && value >= minIntervalMinutes && value <= maxIntervalMinutes
  )
}
