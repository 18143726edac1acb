import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Problem } from '../../kernel/errors.ts'
import { parseStatement } from './parse.ts'
import { entityKey, readingOf, unitedReadings } from './reading.ts'
import { statementFromInput } from './statement.ts'
import { findValid } from './validate.ts'

const readingWhere = (condition: string, resource = 'resource') =>
  readingOf(parseStatement(`permit(principal, action, ${resource}) when { ${condition} };`))

suite('an entity that a condition names', () => {
  const rows: [condition: string, read: string[]][] = [
    ['principal == User::"a"', []],
    ['User::"a" != principal', []],
    ['principal in User::"a"', []],
    ['principal in [User::"a", Group::"g"]', []],
    ['principal is User in Group::"g"', []],
    ['[User::"a", User::"b"].contains(principal)', []],
    ['[[User::"a"]].contains([principal])', []],
    ['[principal].containsAny([User::"a", User::"b"])', []],
    ['[principal].containsAll([User::"a"])', []],
    ['Group::"g" in Role::"r"', []],
    ['{all: [User::"a"]}.all.contains(principal)', []],
    ['[User::"a".email].contains("x")', ['User::"a"']],
    ['decimal("1.0").lessThan(if User::"a".is_owner then decimal("1.0") else decimal("2.0"))', ['User::"a"']],
    ['User::"a".email == "x"', ['User::"a"']],
    ['User :: "a" [ "email" ] == "x"', ['User::"a"']],
    ['User::"\\u{61}".email == "x"', ['User::"a"']],
    ['User::"a" has email', ['User::"a"']],
    ['User::"a" in Group::"g"', ['User::"a"']],
    ['User::"a" is User in Group::"g"', ['User::"a"']],
    ['User::"a".email == User::"b".email', ['User::"a"', 'User::"b"']],
    ['(if context.break_glass then User::"a" else User::"b").is_owner', ['User::"a"', 'User::"b"']],
    ['{who: User::"a"}.who.is_owner', ['User::"a"']],
    ['(if context.break_glass then User::"a" else principal) == principal', ['User::"a"']],
    ['{who: User::"a"} == {who: principal}', ['User::"a"']],
    ['cloud_account::"1".hasTag("env")', ['cloud_account::"1"']],
    ['cloud_account::"1".getTag(principal.name) == "x"', ['cloud_account::"1"']],
    ['cloud_account::"1" in cloud_organizational_unit::"u"', ['cloud_account::"1"']],
    ['(principal == User::"a") == User::"b".is_owner', ['User::"b"']],
    [
      '!(context.has_reason && (resource == cloud_account::"1" || cloud_account::"2".name == "x"))',
      ['cloud_account::"2"'],
    ],
  ]
  for (const [condition, read] of rows) {
    test(`\`${condition}\` reads ${read.length === 0 ? 'nothing' : read.join(' and ')}`, () =>
      assert.deepEqual(readingWhere(condition).literals.map(entityKey).toSorted(), read))
  }

  test('in a scope is not read', () => {
    const statement = parseStatement('permit(principal == User::"a", action, resource in cloud_account::"1");')
    assert.deepEqual(readingOf(statement).literals, [])
  })

  test('is found in every clause', () => {
    const statement = parseStatement(
      'permit(principal, action, resource) when { User::"a".is_owner } unless { User::"b".is_owner };',
    )
    assert.deepEqual(readingOf(statement).literals.map(entityKey), ['User::"a"', 'User::"b"'])
  })
})

suite('that by which a rule tells accounts apart', () => {
  const rows: [condition: string, traits: Partial<ReturnType<typeof readingWhere>['traits']>][] = [
    ['context.has_reason', {}],
    ['resource.hasTag("env") && resource.getTag("env") == "prod"', { tags: ['env'] }],
    ['resource.getTag(if context.has_reason then "a" else "b") == "x"', { tags: 'all' }],
    ['resource.hasTag(principal.name)', { tags: 'all' }],
    ['resource.getTag("\\u{65}nv") == "x"', { tags: ['env'] }],
    ['resource in cloud_account::"1"', { account_ids: ['1'] }],
    ['resource in [cloud_account::"1", cloud_organizational_unit::"u"]', { account_ids: ['1'], unit_ids: ['u'] }],
    ['resource is cloud_storage_bucket in cloud_organizational_unit::"u"', { unit_ids: ['u'] }],
    [
      'resource in (if context.has_reason then cloud_account::"1" else cloud_account::"2")',
      { account_ids: ['1', '2'] },
    ],
    ['[cloud_account::"1"].contains(resource)', { account_ids: ['1'] }],
  ]
  for (const [condition, traits] of rows) {
    test(`in \`${condition}\``, () =>
      assert.deepEqual(readingWhere(condition).traits, { account_ids: [], unit_ids: [], tags: [], ...traits }))
  }

  test('is also the container in its scope', () => {
    const { traits } = readingWhere('true', 'resource in cloud_organizational_unit::"u"')
    assert.deepEqual(traits.unit_ids, ['u'])
    assert.deepEqual(
      readingWhere('true', 'resource is cloud_storage_bucket in cloud_account::"1"').traits.account_ids,
      ['1'],
    )
  })

  test('of several rules is that of each, and one that computes a key reads all tags', () => {
    const one = readingWhere('resource.hasTag("a") && User::"a".is_owner')
    const other = readingWhere('resource.hasTag("b") && User::"a".active && resource in cloud_account::"1"')
    const { literals, traits } = unitedReadings([one, other])
    assert.deepEqual(literals.map(entityKey), ['User::"a"'])
    assert.deepEqual(traits, { account_ids: ['1'], unit_ids: [], tags: ['a', 'b'] })
    assert.equal(unitedReadings([one, readingWhere('resource.hasTag(principal.name)')]).traits.tags, 'all')
  })
})

test('a rule cannot read a request that it names', () => {
  const text = 'forbid(principal, action == Action::"approve", resource) when { access_request::"r".break_glass };'
  assert.throws(
    () => statementFromInput({ policy_text: text }),
    (error) =>
      error instanceof Problem && error.code === 'invalid_policy' && /cannot read a request/.test(error.message),
  )
  statementFromInput({
    policy_text: 'forbid(principal, action == Action::"approve", resource == access_request::"r");',
  })
})

suite('a rule can compare a manager', () => {
  const rows: [condition: string, isRead: boolean][] = [
    ['principal has manager', false],
    ['resource has requester.manager', false],
    ['resource.requester has manager && resource.requester.manager == principal', false],
    ['principal has manager && principal != principal["manager"]', false],
    ['principal has manager && [User::"a", User::"b"].contains(principal.manager)', false],
    ['principal has manager && [principal.manager].contains(principal)', false],
    ['principal has manager && principal in principal.manager', false],
    ['principal has manager && principal in [principal.manager]', false],
    ['principal.manager.department == "x"', true],
    ['principal["m\\u{61}nager"].email == "x"', true],
    ['principal.manager has department', true],
    ['principal has manager.department', true],
    ['resource has requester.manager.title', true],
    ['principal.manager in Group::"g"', true],
    ['principal.manager in User::"a"', true],
    ['principal.manager is User in Group::"g"', true],
    ['principal.manager.manager == principal', true],
    ['User::"a".manager.email == "x"', true],
    ['{who: principal.manager}.who.email == "x"', true],
    ['(if context.break_glass then principal.manager else principal) in Group::"g"', true],
    ['[principal.manager].contains(principal.manager.manager)', true],
  ]
  for (const [condition, isRead] of rows)
    test(`${isRead ? 'but not read them' : 'in'}: \`${condition}\``, () =>
      assert.equal(readingWhere(condition).reads_managers, isRead))

  test('is refused where it reads them, by itself and among others', () => {
    const text = (condition: string) => `permit(principal, action, resource) when { ${condition} };`
    const through = text('principal has manager && principal.manager in Group::"g"')
    assert.throws(
      () => statementFromInput({ policy_text: through }),
      (error) =>
        error instanceof Problem && error.code === 'invalid_policy' && /only compare a manager/.test(error.message),
    )
    const statements = [through, text('principal has manager')].map(parseStatement)
    assert.deepEqual(findValid(statements), [false, true])
  })
})

suite('a rule about deciding', () => {
  const rows: [condition: string, isOfOthers: boolean][] = [
    ['principal has title && principal.title == "x"', false],
    ['resource.requester has department && resource.requester["department"] == "x"', false],
    ['resource has requester.manager && resource.requester.manager == principal', false],
    ['User::"a" in Group::"g"', false],
    ['User::"a" has title', true],
    ['User::"a" has title && User::"a".title == "x"', true],
    ['principal == User::"a".manager', true],
    ['{who: User::"a"}.who has department', true],
    ['(if context.has_reason then User::"a" else principal) has title', true],
  ]
  for (const [condition, isOfOthers] of rows)
    test(`${isOfOthers ? 'reads no facts of others' : 'may say'}: \`${condition}\``, () => {
      const said = (action: string) => parseStatement(`permit(principal, ${action}, resource) when { ${condition} };`)
      assert.equal(readingOf(said('action')).reads_others_facts, isOfOthers)
      if (isOfOthers) assert.deepEqual(findValid([said('action == Action::"approve"')]), [false])
    })

  test('that reads them is refused with a sentence', () => {
    const policy_text = 'permit(principal, action == Action::"approve", resource) when { User::"a" has title };'
    assert.throws(() => statementFromInput({ policy_text }), /only of `principal` and `resource.requester`/)
    statementFromInput({ policy_text: 'permit(principal, action, resource) when { User::"a" has title };' })
  })
})
