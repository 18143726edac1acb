import { type ApiKeyFilters, listApiKeysPage } from '../../src/api-keys/api-key-list-store.ts'
import { listPoliciesPage, type PolicyFilters } from '../../src/policies/policy-list-store.ts'
import { testDatabase } from '../support/database.ts'
import { manyRecords, type Pages, requireFlat } from '../support/flat-lists.ts'
import { seedManySettings } from '../support/many-settings.ts'

const db = await testDatabase()
// As many policies and keys each: the runner takes a file for stuck whose first test does not begin within two minutes.
const { tenant_id, providers } = await seedManySettings(db.asSuperuser, Math.min(manyRecords, 300_000))
await seedManySettings(db.asSuperuser, 2_000)

const policies =
  (filters: PolicyFilters): Pages =>
  (tx, page) =>
    listPoliciesPage(tx, filters, page)
const keys =
  (filters: ApiKeyFilters): Pages =>
  (tx, page) =>
    listApiKeysPage(tx, filters, page)
const day = { created_after: '2024-03-01T00:00:00Z', created_before: '2024-03-03T00:00:00Z' }

const single: Record<string, Pages> = {
  'all policies': policies({}),
  'policies from the end': policies({ sort: '-priority' }),
  'policies by name': policies({ sort: 'name' }),
  'policies by name, from the end': policies({ sort: '-name' }),
  'the newest policies': policies({ sort: '-created_at' }),
  'policies of a day': policies(day),
  'policies of a day, the newest first': policies({ ...day, sort: '-created_at' }),
  'policies by a rare word': policies({ q: 'rare' }),
  'policies by a word of all': policies({ q: 'team' }),
  'policies by a word of none': policies({ q: 'nothing' }),
  'all keys': keys({}),
  'the oldest keys': keys({ sort: 'created_at' }),
  'keys of a day': keys(day),
  'keys of a day, the oldest first': keys({ ...day, sort: 'created_at' }),
  'keys of a provider of many': keys({ identity_provider_id: providers.many }),
  'keys of a provider of few': keys({ identity_provider_id: providers.few, sort: 'created_at' }),
  'keys of a provider of the oldest': keys({ identity_provider_id: providers.oldest }),
  'keys that were not revoked': keys({ revoked: false }),
  'keys that were not revoked, the oldest first': keys({ revoked: false, sort: 'created_at' }),
  'revoked keys': keys({ revoked: true }),
  'keys by a rare word': keys({ q: 'rare' }),
  'keys by a word of all': keys({ q: 'deploy' }),
}

const combined: Record<string, Pages> = {
  'policies of a day by priority': policies({ ...day, sort: 'priority' }),
  'policies of a day by name': policies({ ...day, sort: 'name' }),
  'policies of a day by a word of all': policies({ ...day, q: 'team' }),
  'policies by two words': policies({ q: 'team rare' }),
  'policies by two words of many that never meet': policies({ q: 'access review' }),
  'revoked keys of a day': keys({ ...day, revoked: true }),
  'keys of a day that were not revoked': keys({ ...day, revoked: false }),
  'keys of a provider of many that were not revoked': keys({ identity_provider_id: providers.many, revoked: false }),
  'keys of a provider of few of a day': keys({ identity_provider_id: providers.few, ...day }),
  'revoked keys by a word of all': keys({ q: 'deploy', revoked: true }),
  'keys of a provider by a word of all': keys({ q: 'deploy', identity_provider_id: providers.few }),
}

requireFlat(db, tenant_id, { single, combined })
