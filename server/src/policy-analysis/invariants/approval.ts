/** What rules about deciding requests can match, and the search among such questions. */
import type { ApproveQuestion } from '../../policy-engine/cedar/question.ts'
import type { EntityScope, Scope } from '../../policy-engine/cedar/scope.ts'
import type { Constraints } from './constraints.ts'
import { approvalOf } from './made-question.ts'
import { isAboutApproving, type ReadRule } from './read-rule.ts'
import type { Target } from './search.ts'
import { principalIn, resourcesIn } from './witness.ts'

const requestType = 'access_request'

/**
 * The requests that a rule's resource scope matches, as a scope over the requested resource. The resource of `approve` is the request
 * itself, which is in the requested resource and in everything that this is in: `resource == cloud_account::"1"` matches no request.
 * `one_request`: a request that the rule names. Undefined: none.
 */
export function requestedIn(scope: EntityScope): EntityScope | 'one_request' | undefined {
  switch (scope.scope) {
    case 'any':
      return scope
    case 'in':
      return scope.type === requestType ? 'one_request' : scope
    case 'eq':
      return scope.type === requestType ? 'one_request' : undefined
    case 'is':
      return scope.type === requestType ? { scope: 'any' } : undefined
    case 'is_in':
      if (scope.type !== requestType) return undefined
      return scope.group.type === requestType ? 'one_request' : { scope: 'in', ...scope.group }
  }
}

/** The people that a rule's principal scope matches: every principal is a user. */
export function usersIn(scope: EntityScope): EntityScope {
  if (scope.scope === 'is' && scope.type === 'User') return { scope: 'any' }
  return scope.scope === 'is_in' && scope.type === 'User' ? { scope: 'in', ...scope.group } : scope
}

/** The frames of questions that match all the scopes, in the named resources; none where that is impossible. */
function framesFor(scopes: readonly Scope[], named: readonly EntityScope[]) {
  const principal = principalIn(scopes.map((scope) => scope.principal))
  const requested = scopes.map((scope) => requestedIn(scope.resource))
  if (principal === undefined || requested.includes(undefined)) return []
  // A named request may be for any resource.
  const resources = requested.flatMap((one) => (one === undefined || one === 'one_request' ? [] : one))
  return resourcesIn([...resources, ...named]).map((resource) => ({ principal, resource }))
}

/** Whether some question about a request for these resources matches all the scopes. */
export function couldApprove(scopes: readonly Scope[], named: readonly EntityScope[] = []): boolean {
  return framesFor(scopes, named).length > 0
}

/** What to search: decisions that the holding rules match, and the silent ones do not. */
export function approvalTarget(
  { given, holding, silent }: Pick<Target<ApproveQuestion>, 'given' | 'holding' | 'silent'>,
  named: readonly EntityScope[] = [],
): Target<ApproveQuestion> {
  const scopes = holding.map(({ scope }) => scope)
  const makers = framesFor(scopes, named).map((frame) => (constraints: Constraints) => approvalOf(frame, constraints))
  const near = (rule: ReadRule) => isAboutApproving(rule) && couldApprove([...scopes, rule.scope], named)
  return { makers, given, holding, silent: silent.filter(near) }
}
