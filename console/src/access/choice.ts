import type { Schemas } from '@sallyport/client'

/** What a person chose to request, as it stands in the address: a resource, and an action where they chose one. */
export type Choice = {
  type: Schemas['ResourceReference']['type']
  id: string
  action?: string | undefined
  /** For how long, in seconds. */
  duration?: number | undefined
}

const types: readonly string[] = [
  'cloud_account',
  'cloud_permission_set',
  'cloud_storage_bucket',
  'cloud_db_instance',
  'cloud_compute_instance',
  'cloud_organizational_unit',
] satisfies Schemas['ResourceReference']['type'][]

/** The parts of an address that are a choice; anything else in it is dropped. */
export function readChoice(search: Record<string, unknown>): Partial<Choice> {
  const { type, id, action, duration } = search
  if (typeof type !== 'string' || !types.includes(type)) return {}
  if (typeof id !== 'string') return {}
  const seconds = Number(duration)
  return {
    ...{ type: type as Choice['type'], id },
    ...(typeof action === 'string' && { action }),
    ...(Number.isSafeInteger(seconds) && seconds > 0 && { duration: seconds }),
  }
}

export const choiceOf = ({ type, id, action, duration }: Partial<Choice>): Choice | undefined =>
  type === undefined || id === undefined ? undefined : { type, id, action, duration }
