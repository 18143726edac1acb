import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findResources } from '../../test/support/found-resources.ts'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'

/** Accounts, databases and actions share an answer only where no rule can tell them apart. */
const house = await openHouse()
const [one, two] = ['880000000001', '880000000002'] as const
const unit = 'ou-ab12-88000001'

const read = 'Action::"Read", Action::"Write"'
const cases: Record<string, { when: string; listed: string[] }> = {
  nothing: { when: 'true', listed: [`${one} Read`, `${one} Write`, `${two} Read`, `${two} Write`] },
  'the action': { when: 'action == Action::"Write"', listed: [`${one} Write`, `${two} Write`] },
  'the name': { when: 'resource.name == "second"', listed: [`${two} Read`, `${two} Write`] },
  'an escaped name': { when: 'resource["n\\u{61}me"] == "second"', listed: [`${two} Read`, `${two} Write`] },
  'the number': { when: `resource == cloud_account::"${two}"`, listed: [`${two} Read`, `${two} Write`] },
  'one of several': { when: `[cloud_account::"${two}"].contains(resource)`, listed: [`${two} Read`, `${two} Write`] },
  'a unit': { when: `resource in cloud_organizational_unit::"${unit}"`, listed: [`${two} Read`, `${two} Write`] },
  'a tag': { when: 'resource.hasTag("on")', listed: [`${two} Read`, `${two} Write`] },
  'a tag of a computed key': { when: 'resource.hasTag(context.via)', listed: [`${two} Read`, `${two} Write`] },
}

for (const [what, { when, listed }] of Object.entries(cases))
  test(`a rule that reads ${what} permits exactly the pairs that it matches`, async () => {
    const on = await requestStage(house, 'shared')
    const second = { on: 'yes', token: 'yes', organizational_unit_ids: [unit] }
    const resources = [
      { id: one, account_id: one, name: 'first', rank: 1, metadata: {} },
      { id: two, account_id: two, name: 'second', rank: 2, metadata: second },
    ]
    assert.equal((await on.call(on.owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
    await on.rule(`permit (principal, action in [${read}], resource is cloud_account) when { ${when} };`)
    const { body } = await on.call(on.people.user, 'GET', '/v1/catalogue')
    const found = (body as { data: CatalogueEntry[] }).data.map(({ resource, action }) => `${resource.id} ${action}`)
    assert.deepEqual(found, listed)
  })

const arnOf = (account: string, name: string) => `arn:aws:rds:eu-west-1:${account}:db:${name}`
/** Two in each account, of which the second one is in the unit. */
const databases = [arnOf(one, 'a'), arnOf(one, 'b'), arnOf(two, 'a'), arnOf(two, 'b')]
const [a, , b, c] = databases as [string, string, string, string]
const databaseCases: Record<string, { when: string; listed: string[] }> = {
  nothing: { when: 'true', listed: databases },
  'its id': { when: `resource == cloud_db_instance::"${a}"`, listed: [a] },
  'one of several ids': { when: `[cloud_db_instance::"${b}"].contains(resource)`, listed: [b] },
  'the name': { when: 'resource.name == "a"', listed: [a, b] },
  'its account': { when: `resource in cloud_account::"${two}"`, listed: [b, c] },
  'a unit of its account': { when: `resource in cloud_organizational_unit::"${unit}"`, listed: [b, c] },
  'a tag of its account': { when: 'resource.hasTag("on")', listed: [b, c] },
}

for (const [what, { when, listed }] of Object.entries(databaseCases))
  test(`a rule that reads ${what} permits exactly the databases that it matches`, async () => {
    const on = await requestStage(house, 'shared databases')
    await on.cache({ [one]: {}, [two]: { tags: { on: 'yes' }, units: [unit] } })
    const found = databases.map((id) => ({ resource_type: 'cloud_db_instance', id, name: 'x' }) as const)
    await findResources(house, on.tenant_id, found)
    await on.rule(`permit (principal, action == Action::"Read", resource is cloud_db_instance) when { ${when} };`)
    const { body } = await on.call(on.people.user, 'GET', '/v1/catalogue')
    assert.deepEqual(
      (body as { data: CatalogueEntry[] }).data.map(({ resource }) => resource.id),
      listed,
    )
  })
