import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parseStatement } from '../policy-engine/cedar/parse.ts'
import { unverifiedAddresses } from './unverified-address.ts'

/** The warnings of a rule with this effect and these clauses; `approve` is where a rule can name the requester. */
function warned(effect: 'permit' | 'forbid', clauses: string): string[] {
  return unverifiedAddresses(
    effect,
    parseStatement(`${effect} (principal, action == Action::"approve", resource) ${clauses};`).conditions,
  )
}

const like = 'principal.email like "*@corp.example"'
const conditions: [condition: string, people: string[]][] = [
  [like, ['principal']],
  ['principal["email"] == "ada@corp.example"', ['principal']],
  ['"ada@corp.example" == principal.email', ['principal']],
  ['principal.email != "ada@corp.example"', ['principal']],
  ['principal has email', ['principal']],
  ['principal has "email" && true', ['principal']],
  ['["ada@corp.example"].contains(principal.email)', ['principal']],
  ['[principal.email, "x"].containsAll(["x"])', ['principal']],
  [`context.has_reason && !(context.break_glass || !(${like}))`, ['principal']],
  [`if context.has_reason then ${like} else false`, ['principal']],
  [`if ${like} then true else false`, ['principal']],
  ['resource.hasTag(principal.email)', ['principal']],
  ['{"at": principal.email}.at == "x"', ['principal']],
  ['{"who": principal}.who.email == "x"', ['principal']],
  ['{"a": {"b": principal}}["a"]["b"].email == "x"', ['principal']],
  ['(if context.has_reason then {"who": principal} else {"who": principal}).who.email == "x"', ['principal']],
  ['resource.requester.email == "x"', ['resource.requester']],
  ['resource has requester.email', ['resource.requester']],
  ['(if context.has_reason then resource else resource).requester.email == "x"', ['resource.requester']],
  ['principal.email == resource.requester.email', ['principal', 'resource.requester']],
  ['(if context.has_reason then principal else resource.requester).email == "x"', ['principal', 'resource.requester']],
  [`${like} && resource.requester.email_verified`, ['principal']],
  ['principal.email == resource.requester.email && principal.email_verified', ['resource.requester']],
  ['User::"ada".email == "x"', ['User::"ada"']],
  // It tests that an attribute is there that is always there.
  [`${like} && principal has email_verified`, ['principal']],
  [`${like} && {"email_verified": true}.email_verified`, ['principal']],
  [`${like} && context has email_verified`, ['principal']],

  [`${like} && principal.email_verified`, []],
  [`principal.email_verified && ${like}`, []],
  [`${like} && principal["email_verified"]`, []],
  [`${like} && principal.email_verified == true`, []],
  [`${like} || !principal.email_verified`, []],
  [`!(${like}) || !(context.has_reason || (if principal.email_verified then false else true))`, []],
  [`${like} && {"who": principal}.who.email_verified`, []],
  ['principal has email && principal.email_verified', []],
  ['resource.requester.email == "x" && resource.requester.email_verified', []],
  ['resource has requester.email && resource.requester.email_verified', []],
  ['(if context.has_reason then principal else principal).email == "x" && principal.email_verified', []],
  ['User::"ada".email == "x" && User::"ada".email_verified', []],
  ['principal.email_verified', []],
  ['principal.name like "*@corp.example"', []],
  ['principal.name == "principal.email"', []],
  ['resource.hasTag("email") && resource.getTag("email") == "x"', []],
  ['{"email": "x"}.email == "x"', []],
  ['{"a": {"email": "x"}}.a.email == "x"', []],
  ['context has email', []],
  ['resource has email', []],
  ['principal in Group::"principal.email"', []],
]

suite('a rule that reads an address', () => {
  for (const [condition, people] of conditions)
    test(`\`${condition}\`: ${people.length === 0 ? 'no warning' : `a warning about ${people.join(', ')}`}`, () => {
      for (const effect of ['permit', 'forbid'] as const)
        for (const kind of ['when', 'unless'] as const) {
          const named = warned(effect, `${kind} { ${condition} }`).map(
            (words) => /trusts `(.*?)\.email` /.exec(words)?.[1],
          )
          assert.deepEqual(named.sort(), people, `${effect} ${kind}`)
        }
    })

  test('gets one sentence that says what to add, so that an unverified address gains nothing', () => {
    const trusts = 'this rule trusts `principal.email` also where nobody verified that address, which proves nothing'
    const both = '&& principal.email_verified'
    const either = '|| !principal.email_verified'
    for (const [effect, clauses, added] of [
      ['permit', `when { ${like} }`, `\`${both}\` to its \`when\``],
      ['permit', `unless { ${like} }`, `\`${either}\` to its \`unless\``],
      ['forbid', `when { ${like} }`, `\`${either}\` to its \`when\``],
      ['forbid', `unless { ${like} }`, `\`${both}\` to its \`unless\``],
      [
        'permit',
        `when { ${like} || principal.is_owner }`,
        `\`${both}\` to its \`when\` (with brackets around the rest)`,
      ],
      ['permit', `unless { ${like} || principal.is_owner }`, `\`${either}\` to its \`unless\``],
      [
        'forbid',
        `when { if context.has_reason then ${like} else true }`,
        `\`${either}\` to its \`when\` (with brackets around the rest)`,
      ],
      ['permit', `when { ${like} } when { principal has email }`, `\`${both}\` to its \`when\``],
      [
        'permit',
        `when { ${like} } unless { principal.email == "x" }`,
        `\`${both}\` to its \`when\` and \`${either}\` to its \`unless\``,
      ],
    ] as const)
      assert.deepEqual(warned(effect, clauses), [`${trusts}; add ${added}`], `${effect} ${clauses}`)
  })

  test('may read in another clause whether it is verified', () => {
    for (const kind of ['when', 'unless'])
      assert.deepEqual(warned('permit', `when { ${like} } ${kind} { principal.email_verified }`), [])
  })

  test('gets at most five sentences', () => {
    const each = Array.from({ length: 7 }, (_, index) => `User::"${index}".email == "x"`)
    assert.equal(warned('permit', `when { ${each.join(' || ')} }`).length, 5)
  })
})
