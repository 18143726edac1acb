import type { DueWork } from '../jobs/work-list.ts'
import { remindOfRequest } from './reminder-store.ts'

/** Those who may decide a request are reminded while it waits: whoever may then is told by the event. */
export const remindApprovers: DueWork = { table: 'reminder', run: remindOfRequest }
