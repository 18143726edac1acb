import type { DueWork } from '../jobs/work-list.ts'
import { remindOfRequest } from './reminder-store.ts'

/** Reminds approvers while a request waits. The event notifies the users who may decide the request at that moment. */
export const remindApprovers: DueWork = { table: 'reminder', run: remindOfRequest }
