import type { Me } from '../me/me.ts'

type Rights = Pick<Me, 'scopes'>

const holds = ({ scopes }: Rights, ...wanted: string[]): boolean => wanted.every((scope) => scopes.includes(scope))

/** Whether the person may have directories read. */
export const maySync = (me: Rights): boolean => holds(me, 'identity_providers:sync')

/** Whether the person may let go whom a reading named. */
export const mayConfirm = (me: Rights): boolean => holds(me, 'identity_providers:sync', 'users:write')

/** Whether the person may switch directories on and off. */
export const mayChange = (me: Rights): boolean => holds(me, 'identity_providers:write')

/**
 * Whether the person may say where a directory is, or make a key for one: it writes users, groups and their members. Its users may hold
 * more, of which the service says what is missing.
 */
export const mayConnect = (me: Rights): boolean =>
  holds(me, 'identity_providers:write', 'users:write', 'groups:write', 'api_keys:write')

/** Whether the person may see whom a directory changes, and who has to be settled. */
export const maySeePeople = (me: Rights): boolean => holds(me, 'users:read')

export const maySettle = (me: Rights): boolean => holds(me, 'users:read', 'users:write')

export const maySeeKeys = (me: Rights): boolean => holds(me, 'api_keys:read')
