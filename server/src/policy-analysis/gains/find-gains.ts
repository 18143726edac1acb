import { operation } from '../../http/operation.ts'
import { beside } from '../../kernel/beside.ts'
import { newId } from '../../kernel/id.ts'
import { withoutIgnoredInDraft } from '../../policies/drafts/draft.ts'
import { readPresent } from '../../policies/drafts/draft-store.ts'
import { findLiteralFacts } from '../../policy-facts/policy-facts.flow.ts'
import { compareDraft, draftGainsModule, readDraft } from './compare-draft.ts'
import { Gains, GainsInput, requireFewRules, requireMayNameThem } from './gains.ts'
import { readField } from './gains-store.ts'

/** Room for as many rules as are compared, some of them as long as a rule may be. */
const maxBodyBytes = 256 * 1024

/**
 * Who may request more or less by a draft than now. Stores nothing. The draft is read first: its rules say by what accounts are told
 * apart, so that accounts that are not can be counted instead of read.
 */
export const findGains = operation({
  method: 'POST',
  path: '/v1/policies/gains',
  summary:
    'Find who gains and who loses by a draft of the rules; needs users:read, groups:read and cloud_accounts:read too',
  credential: 'any',
  scope: 'policies:read',
  body: GainsInput,
  withoutIgnored: withoutIgnoredInDraft,
  bodyLimit: maxBodyBytes,
  replies: { 200: Gains },
  errors: ['invalid_policy', 'unprocessable'],
  async run({ tx, actor, now, source_ip }, { body: { draft } }): Promise<Gains> {
    requireMayNameThem(actor)
    requireFewRules(draft)
    const present = await readPresent(tx, draft)
    const of = { id: newId(), author: actor.user_id, pointer: '/draft' }
    const wanted = await beside.run(tx.tenant_id, draftGainsModule, readDraft, [present, draft, of])
    const { settings, ...field } = await readField(tx, wanted)
    const literals = await findLiteralFacts(tx, wanted.literals)
    const asked = {
      now,
      source_ip,
      time_zone: settings['timezone.default'],
      max_duration_seconds: settings['requests.max_duration_seconds'],
    }
    const found = await beside.run(tx.tenant_id, draftGainsModule, compareDraft, [
      present,
      draft,
      of,
      { ...field, literals, asked },
    ])
    return { rule_set_version: present.version, ...found, at: found.at.toISOString() }
  },
})
