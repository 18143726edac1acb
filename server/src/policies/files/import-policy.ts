import { Type } from 'typebox'
import { readIfMatch, recordTag, requireMatch } from '../../http/if-match.ts'
import { operation } from '../../http/operation.ts'
import { Body, IdParams } from '../../http/schema.ts'
import { beside } from '../../kernel/beside.ts'
import { notFound, Problem } from '../../kernel/errors.ts'
import { maxRules } from '../policy.ts'
import { applyImport, tryImport } from './import-policy.flow.ts'
import { ImportResult, importResult } from './import-result.ts'
import { findImportWarnings } from './import-warnings.flow.ts'
import { maxFileBytes, PolicyFile, writePolicyFile } from './policy-file.ts'
import { findPolicyAt } from './policy-file-store.ts'
import { type ImportPlan, planImport, policyImportModule } from './policy-import.ts'

/** How often an import is attempted. An attempt fails if the tenant's rules changed while it ran. */
const maxAttempts = 3

/** Replaces the rules of a policy by those of a file, in one change. A rule that is the same in both stays untouched. */
export const importPolicy = operation({
  method: 'PUT',
  path: '/v1/policies/{id}/cedar',
  summary: 'Replace the rules of a policy by those of a `.cedar` file, sent as JSON or as `text/plain`',
  credential: 'any',
  scope: 'policies:write',
  params: IdParams,
  query: Body({
    dry_run: Type.Optional(Type.Boolean({ description: 'Returns what would change, and changes nothing.' })),
  }),
  body: PolicyFile,
  bodyText: 'cedar',
  bodyLimit: maxFileBytes,
  replies: { 200: ImportResult },
  errors: ['case_broken', 'invalid_policy', 'not_found', 'unprocessable', 'version_conflict'],
  takesIfMatch: true,
  async run(ctx, { params, query: { dry_run = false }, body, header }) {
    const tags = readIfMatch(header('if-match'))
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const found = await findPolicyAt(ctx.tx, params.id)
      if (found === undefined) throw notFound('policy')
      const { policy, version, rule_count } = found
      // The import is saved only on the rules of this version.
      if (tags !== undefined) requireMatch(tags, recordTag({ cedar: writePolicyFile(policy) }))
      const plan = await beside.run(ctx.tx.tenant_id, policyImportModule, planImport, [body.cedar, policy.rules])
      requireRoom(rule_count, plan)
      const { added, changed, removed } = plan
      const isNothing = added.length + changed.length + removed.length === 0
      const warnings = await findImportWarnings(ctx, policy, plan)
      const save = dry_run ? tryImport : applyImport
      if (isNothing || (await save(ctx, { policy_id: policy.id, version, plan })))
        return importResult(plan, { dry_run, warnings })
    }
    throw new Problem('version_conflict', 'the rules of the tenant are changing just now; import the file again')
  },
})

function requireRoom(rule_count: number, { added, removed }: ImportPlan): void {
  const excess = rule_count + added.length - removed.length - maxRules
  if (excess > 0 && added.length > removed.length)
    throw new Problem(
      'unprocessable',
      `the import exceeds the tenant’s maximum of ${maxRules} rules by ${excess}; delete rules first`,
    )
}
