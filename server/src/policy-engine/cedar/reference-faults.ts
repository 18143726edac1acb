/** What can be requested: the format of resource ids and action names. */
import type { ResourceReference } from './question.ts'
import { type AskedType, approveAction } from './schema.ts'

/** The id format of each type; ASCII only, so that no two different texts look like the same resource. */
const resourceForms: Record<AskedType, { form: RegExp; means: string }> = {
  cloud_account: { form: /^[0-9]{12}$/, means: 'an account number of 12 digits' },
  cloud_permission_set: {
    form: /^arn:[a-z0-9-]{1,32}:sso:[a-z0-9-]{0,32}:[0-9]{0,12}:permissionSet\/[\w+=,.@-]{1,64}\/[\w+=,.@-]{1,64}$/,
    means: 'the fully qualified name of a permission set, such as `arn:aws:sso:::permissionSet/ssoins-…/ps-…`',
  },
  cloud_storage_bucket: {
    form: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    means: 'a bucket name: 3 to 63 lower-case letters, digits, dots and hyphens',
  },
  cloud_db_instance: {
    form: /^arn:[a-z0-9-]{1,32}:rds:[a-z0-9-]{1,32}:[0-9]{12}:db:[A-Za-z0-9-]{1,63}$/,
    means: 'the fully qualified name of a database instance, such as `arn:aws:rds:REGION:ACCOUNT:db:NAME`',
  },
  cloud_compute_instance: { form: /^i-[0-9A-Za-z]{1,64}$/, means: 'an instance id: `i-` and letters or digits' },
  cloud_organizational_unit: {
    form: /^ou-[0-9A-Za-z]{4}-[0-9A-Za-z]{8}$/,
    means: 'a unit id: `ou-`, four characters, `-`, eight characters',
  },
}

/** The format of the ids of each type, in words. */
export const idForms = Object.entries(resourceForms)
  .map(([type, { means }]) => `\`${type}\`: ${means}`)
  .join('; ')

/** Why this is not an id of its type, as half a sentence; undefined when it is one. */
export function findIdFault({ type, id }: ResourceReference): string | undefined {
  const { form, means } = resourceForms[type]
  return form.test(id) ? undefined : `must be ${means}`
}

/** The longest action that a request can name. */
export const maxActionLength = 256

/** Why this action cannot be requested, as half a sentence; undefined when it can. */
export function findActionFault(action: string): string | undefined {
  if (action === approveAction) return 'is the action of deciding a request and cannot be requested'
  const isVisible = /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(action) && action.trim() === action
  if (isVisible && !action.startsWith('__')) return undefined
  return 'must be one line of visible text, without spaces around it or `__` before it'
}
