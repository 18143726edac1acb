import type { DueWork } from '../jobs/work-list.ts'
import { endExpiredMemberships } from './claimed-member-store.ts'

/** Ends the memberships that claims gave a user, once the user has not signed in for long enough. They have not counted since. */
export const endExpiredGroups: DueWork = { table: 'claimed_groups', run: endExpiredMemberships }
