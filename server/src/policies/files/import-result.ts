import { type Static, Type } from 'typebox'
import { Uuid } from '../../http/schema.ts'
import type { ImportPlan } from './policy-import.ts'

/** A reply lists at most this many changes. */
const maxChangesShown = 100

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** What an import has changed, or would change. */
export const ImportResult = Type.Object(
  {
    dry_run: Type.Boolean(),
    added: count('Rules that are in the file and were not in the policy.'),
    changed: count('Rules with a new statement or ordinal.'),
    removed: count('Rules that are not in the file.'),
    unchanged: count('Rules that did not change.'),
    changes: Type.Array(
      Type.Object({
        change: Type.Enum(['added', 'changed', 'removed']),
        rule_id: Type.Optional(Uuid),
        statement: Type.Optional(Type.Integer({ description: 'The number of the statement in the file, from 1.' })),
        line: Type.Optional(Type.Integer({ description: 'The line on which the statement begins in the file.' })),
        warnings: Type.Optional(Type.Array(Type.String())),
      }),
      { maxItems: maxChangesShown, description: `The first ${maxChangesShown}, in the order of the file.` },
    ),
  },
  { title: 'ImportResult' },
)
type ImportResult = Static<typeof ImportResult>

/** The result of a plan. `warnings` are the rules' warnings, by rule id. */
export function importResult(
  plan: ImportPlan,
  { dry_run, warnings }: { dry_run: boolean; warnings: ReadonlyMap<string, readonly string[]> },
): ImportResult {
  const { added, changed, removed, unchanged } = plan
  const inOrder = listedChanges(plan).map(({ change, id, number, line }) => {
    const found = warnings.get(id) ?? []
    const isThere = change === 'changed' || !dry_run
    return {
      change,
      ...(isThere && { rule_id: id }),
      statement: number,
      line,
      ...(found.length > 0 && { warnings: [...found] }),
    }
  })
  const gone = removed.slice(0, maxChangesShown).map((rule_id) => ({ change: 'removed' as const, rule_id }))
  return {
    dry_run,
    added: added.length,
    changed: changed.length,
    removed: removed.length,
    unchanged,
    changes: [...inOrder, ...gone].slice(0, maxChangesShown),
  }
}

/** The changes to rules of the file that a reply lists, in the order of the file. */
export function listedChanges({ added, changed }: ImportPlan) {
  return [
    ...added.map((one) => ({ ...one, change: 'added' as const })),
    ...changed.map((one) => ({ ...one, change: 'changed' as const })),
  ]
    .sort((a, b) => a.number - b.number)
    .slice(0, maxChangesShown)
}
