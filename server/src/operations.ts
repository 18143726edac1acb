import { accessOperations } from './access-operations.ts'
import type { Operation } from './http/operation.ts'
import { peopleOperations } from './people-operations.ts'
import { signInOperations } from './sign-in-operations.ts'
import { tenantOperations } from './tenant-operations.ts'

/** THE list: every endpoint. The name is the operationId, the file and the verb. */
export const operations: Record<string, Operation> = {
  ...signInOperations,
  ...accessOperations,
  ...peopleOperations,
  ...tenantOperations,
}
