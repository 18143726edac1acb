/**
 * A past question as the version before this one put it to policy. It exists only so that the command `replay-upgrade` can
 * compare the two; nothing decides by it. The former version knew less:
 *
 * - what lies in an account had no tags, and no name;
 * - a resource of an unknown account was evaluated once, in no account, and a named account always counted;
 * - an entity that a rule names was known only where it was an entity of the question;
 * - a right of an approver that does not count lifted a forbid about those who have it.
 */
import type { AccountPolicyView } from '../cloud/cloud-account.ts'
import type { Resource, ResourceReference } from '../policy-engine/cedar/question.ts'
import type { PolicyFacts } from '../policy-facts/policy-facts.flow.ts'
import { resourceIn } from '../policy-facts/resource.ts'
import { contextOf, type PutQuestion, type Recording, setsAsActions } from './policy-question.ts'

/** What the former version put to policy for this question, for rules that need these facts now. */
export function formerQuestion(
  { requester, deciding, requested, when, known }: Recording,
  facts: PolicyFacts,
): PutQuestion {
  const { id, action, duration_seconds, break_glass, places } = requested
  const { accounts, settings } = known
  const resources = formerResources(requested, accounts)
  const beyond = {
    context: contextOf(requested, when, settings),
    literals: new Map([...facts.literals.keys()].map((key) => [key, null])),
  }
  if (deciding === null) {
    const sets = setsAsActions(places, accounts).map(withoutWords)
    const asked = [...resources, ...sets]
    return { kind: 'ask', policyQuestion: { principal: requester, action, resources: asked, ...beyond } }
  }
  const request = { id, requester, action, duration_seconds, break_glass }
  const principal = deciding.approver.counting
  return { kind: 'approve', policyQuestion: { principal, request, targets: resources, ...beyond } }
}

/** The resource itself, then each place that is a different resource. */
function formerResources(
  { resource, places, home }: Recording['requested'],
  accounts: ReadonlyMap<string, AccountPolicyView>,
): Resource[] {
  const others = places.filter((place) => place.type !== resource.type || place.id !== resource.id)
  return [formerResource(resource, home, accounts), ...others.map((place) => formerResource(place, place.id, accounts))]
}

function formerResource(
  reference: ResourceReference,
  account_id: string | undefined,
  accounts: ReadonlyMap<string, AccountPolicyView>,
): Resource {
  const resource = withoutWords(resourceIn(reference, account_id, accounts))
  return reference.type === 'cloud_account' ? resource : { ...resource, name: '', tags: {} }
}

/** The former version did not say that an account is unknown. */
function withoutWords({ unknown_account: _, ...resource }: Resource): Resource {
  return resource
}
