import { columns, exports, length, names } from './file-rules.ts'
import { imports, kinds, libraries, nodeModules, verbs, workspaces } from './import-rules.ts'
import { activeUsers, calls, clock, environment, statements, statementsMade } from './place-rules.ts'
import type { Rule } from './rule.ts'

/** Every house rule, by the name that the tests use. */
export const houseRules = {
  imports,
  verbs,
  kinds,
  libraries,
  nodeModules,
  workspaces,
  names,
  length,
  columns,
  exports,
  environment,
  clock,
  statements,
  statementsMade,
  activeUsers,
  calls,
} as const satisfies Record<string, Rule>
