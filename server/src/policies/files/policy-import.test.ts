import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { policySetTextToParts } from '@cedar-policy/cedar-wasm/nodejs'
import { anyOf, rounds } from '../../../test/support/race.ts'
import type { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { statementFromInput } from '../../policy-engine/cedar/statement.ts'
import type { RuleInput } from '../../policy-engine/rule.ts'
import { type FiledRule, writePolicyFile } from './policy-file.ts'
import { planImport } from './policy-import.ts'

const ruleOf = (input: RuleInput, id = newId()): FiledRule => {
  const { ordinal = 0, ...content } = input
  return { id, ordinal, ...statementFromInput(content).fields }
}
const fileOf = (rules: FiledRule[], more = {}) =>
  writePolicyFile({ id: newId(), name: 'Production', description: '', enabled: true, rules, ...more })
const countsOf = async (file: string, rules: FiledRule[]) => {
  const { added, changed, removed, unchanged } = await planImport(file, rules)
  return [added.length, changed.length, removed.length, unchanged]
}

const account = (id: string, head = '') => `${head}permit(principal, action, resource == cloud_account::"${id}");`

suite('an exported file', () => {
  test('has the layout that an author would write', () => {
    const rules = [
      ruleOf(
        { policy_text: account('1'), notice: 'Say "why".\nPlease.', approval_mode: 'auto' },
        '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11',
      ),
      ruleOf({ policy_text: account('2', '@id("second")\n'), ordinal: 7 }),
    ]
    assert.equal(
      fileOf(rules, { description: 'Who may ask\nand why\r\n\rpermit;' }),
      `// Policy: Production
// Who may ask
// and why
//
// permit;

@id("018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11")
@ordinal("0")
@notice("Say \\"why\\".\\u{a}Please.")
@approval_mode("auto")
permit(principal, action, resource == cloud_account::"1");

@ordinal("7")
@id("second")
permit(principal, action, resource == cloud_account::"2");
`,
    )
  })

  const texts = [
    '',
    'a',
    '"',
    '\\',
    '\n',
    '\r\n',
    '; permit(principal, action, resource); //',
    '😀',
    '@id("x")',
    '\u2028',
  ] as const
  const anyText = () => anyOf(texts) + anyOf(texts)
  const anyRule = (): FiledRule => {
    const effect = anyOf(['permit', 'forbid'] as const)
    const quoted = JSON.stringify(anyText()).replaceAll('\u2028', '')
    const mode = anyOf([undefined, 'auto', 'break_glass'] as const)
    const beside: RuleInput = {
      notice: anyText(),
      audit_session: anyOf([true, false]),
      ordinal: anyOf([0, 1, 2_147_483_647]),
      ...(mode && { approval_mode: mode }),
    }
    if (anyOf([true, false])) return ruleOf({ effect, conditions: `when { principal.name == ${quoted} }`, ...beside })
    const id = anyOf(['', `@id("${newId()}")`, '@id("a name")', '@id("; // a") ', '@notice @id("b")'])
    const annotations = id.includes('notice') ? '' : anyOf(['', '@notice("said")\n', '@audit_session("false") '])
    return ruleOf({
      policy_text: ` ${annotations}${id}${effect}(principal,action,resource)\n unless{principal.name==${quoted}};\n`,
      ...beside,
    })
  }

  test('changes nothing in its policy, gives the same rules in another, and parses as a policy set', async () => {
    for (const _ of rounds(8)) {
      const rules = Array.from({ length: 1 + Math.floor(Math.random() * 6) }, anyRule)
      const file = fileOf(rules, { description: anyText() })
      assert.deepEqual(await countsOf(file, rules), [0, 0, 0, rules.length], file)
      const whole = policySetTextToParts(file)
      assert.ok(whole.type === 'success' && whole.policies.length === rules.length, file)
      const { added } = await planImport(file, [])
      const contentOf = (fields: Partial<FiledRule>) => [
        fields.effect,
        fields.ordinal,
        fields.notice,
        fields.audit_session,
        fields.approval_mode,
      ]
      assert.deepEqual(
        added.map(({ ordinal, statement }) => contentOf({ ordinal, ...statement.fields })),
        rules.map(contentOf),
        file,
      )
      const copies = added.map(({ id, ordinal, statement }) => ({
        ...ruleOf({ effect: 'permit' }, id),
        ordinal,
        ...statement.fields,
      }))
      assert.deepEqual(await countsOf(fileOf(copies), copies), [0, 0, 0, rules.length])
      // The layout makes no difference.
      const reformatted = file
        .replaceAll(/(?<=\n)@id\("/g, ' @id(\n"')
        .replaceAll(/(?<=\n)(?:permit|forbid)\(/g, '$& // who\n ')
      assert.deepEqual(await countsOf(reformatted, rules), [0, 0, 0, rules.length], reformatted)
    }
  })
})

suite('a statement of a file', () => {
  const [first, second] = [
    ruleOf({ policy_text: account('1'), ordinal: 0 }),
    ruleOf({ policy_text: account('2', '@id("second")'), ordinal: 1 }),
  ]
  const rules = [first, second]
  const plan = (file: string) => planImport(file, rules)

  test('changes the rule with its uuid', async () => {
    const { added, changed, removed, unchanged } = await plan(
      `@id("${first.id.toUpperCase()}") ${account('9')} ${account('2', '@id("second")')}`,
    )
    assert.deepEqual([added, removed, unchanged], [[], [], 1])
    assert.deepEqual(
      changed.map(({ id, statement }) => [id, statement?.fields.policy_text]),
      [[first.id, account('9')]],
    )
  })

  test('changes the rule with its name', async () => {
    const { changed, unchanged } = await plan(`${account('1')} ${account('9', '@id("second") ')}`)
    assert.deepEqual([changed.map(({ id }) => id), unchanged], [[second.id], 1])
  })

  test('moves the rule with the same meaning, and changes only its place', async () => {
    const { changed, unchanged } = await plan(
      `${account('2')}\npermit ( principal,action,resource==cloud_account::"1" ) ;`,
    )
    assert.equal(unchanged, 0)
    assert.deepEqual(
      changed.map(({ id, ordinal, statement }) => [id, ordinal, statement]),
      [
        [second.id, 0, undefined],
        [first.id, 1, undefined],
      ],
    )
  })

  test('is a new rule if no rule matches, even with an unknown uuid', async () => {
    const { added, removed } = await plan(`@id("${newId()}")${account('9')}`)
    assert.deepEqual(
      added.map(({ statement }) => statement.fields.policy_text),
      [account('9')],
    )
    assert.deepEqual(removed, [first.id, second.id])
  })

  test('comes right after the statement before it if it has no ordinal', async () => {
    const file = [
      account('5'),
      account('6', '@ordinal("10") '),
      account('7'),
      account('8', '@ordinal("2147483647") '),
      account('9'),
    ]
    const { added } = await planImport(file.join('\n'), [])
    assert.deepEqual(
      added.map(({ ordinal, line }) => [ordinal, line]),
      [
        [0, 1],
        [10, 2],
        [11, 3],
        [2_147_483_647, 4],
        [2_147_483_647, 5],
      ],
    )
  })

  test('is removed from the policy if the file does not have it', async () => {
    assert.deepEqual((await plan('// nothing')).removed, [first.id, second.id])
  })
})

suite('the faults of a file', () => {
  const faultsOf = async (file: string) => {
    const problem = await planImport(file, []).then(
      () => assert.fail('it was taken'),
      (error: Problem) => error,
    )
    assert.equal(problem.code, 'invalid_policy')
    const { faults, ...first } = problem.details as {
      faults: { statement: number; line: number; column: number; message: string }[]
    }
    const [{ message: _m, ...expected } = {}] = faults
    assert.deepEqual(first, { field: 'cedar', ...expected })
    return { message: problem.message, places: faults.map(({ statement, line, column }) => [statement, line, column]) }
  }

  test('are reported together, each with its place in the file', async () => {
    const file = `// a file\n${account('1')}\npermit(principle, action, resource);\n\n  permit(principal, action, resource)\n  // so\n  when { context.duration < 1 };\n@ordinal("x") ${account('2')}`
    const { message, places } = await faultsOf(file)
    assert.match(message, /^statement 2: /)
    assert.deepEqual(places, [
      [2, 3, 8],
      [3, 7, 10],
      [4, 8, 15],
    ])
  })

  test('are at most 20', async () => assert.equal((await faultsOf('permit;'.repeat(100))).places.length, 20))

  test('include an `@id` that occurs twice', async () => {
    const { message, places } = await faultsOf(`@id("a") ${account('1')}\n@id("a") ${account('2')}`)
    assert.deepEqual([message, places], ['statement 2: `@id("a")` occurs twice', [[2, 2, 1]]])
  })

  test('include texts that must not reach the engine: each statement is guarded', async () => {
    const deep = `permit(principal, action, resource) when { ${'('.repeat(200)}true${')'.repeat(200)} };`
    const long = `permit(principal, action, resource) when { principal.name == "${'x'.repeat(20_000)}" };`
    const unknown = 'forbid(principal, action, resource) when { unknown("x") };'
    const { places } = await faultsOf([deep, account('1'), long, unknown, '@notice("'].join('\n'))
    assert.deepEqual(
      places.map(([statement]) => statement),
      [1, 3, 4, 5],
    )
  })

  test('include more statements than a tenant may have rules', async () => {
    await assert.rejects(planImport(';'.repeat(10_001), []), { code: 'unprocessable' })
  })
})
