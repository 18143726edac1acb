import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../kernel/errors.ts'
import { statementFromInput, statementsFromTexts } from './statement.ts'

/** Texts, and whether each may be parsed in a batch. */
const texts: [string, boolean][] = [
  ['permit(principal, action, resource);', true],
  ['forbid(principal, action, resource) when { context.weekday > 5 };', true],
  ['@notice("a") permit(principal, action == Action::"read", resource) when { resource.hasTag("env") };', true],
  ['permit(principal, action in [Action::"read", Action::"write"], resource is cloud_account);', true],
  ['permit(principal, action == Action::"approve", resource) when { resource.requester.active };', true],
  ['forbid(principal, action == Action::"approve", resource) unless { resource.duration_seconds < 60 };', true],
  ['permit(principal, action, resource) when { action == Action::"read" };', false],
  ['permit(principal, action in [Action::"read", Action::"approve"], resource);', false],
  ['permit(principal, action == Action::"approve", resource) when { resource.hasTag("a") };', false],
  ['permit(principal, action == Action::"read", resource) when { resource.requester.active };', false],
  ['permit(principal, action, resource) when { action == Action::"approve" };', false],
  ['permit(principal, action == Action::"__a", resource);', false],
  ['permit(principal, action, resource) when { context.weekdays > 5 };', false],
  ['permit(principal, action, resource) when { false };', false],
  ['permit(principal, action, resource) when { principal.name == "рaypal" };', false],
  ['permit(principal, action, resource) when { principal.name == "a\u202eb" };', false],
  ['@notice("\u202e") permit(principal, action, resource);', false],
  [
    'permit(principal, action in [Action::"a", Action::"b"], resource) when { resource == access_request::"x" };',
    false,
  ],
  ['permit(principal, action, resource is access_request);', false],
  ['permit(principal, action == Action::"approve", resource is cloud_account);', false],
  ['@mode("a") permit(principal, action, resource);', false],
  ['permit(', false],
  [`permit(principal, action, resource) when { ${'('.repeat(60)}true${')'.repeat(60)} };`, false],
]

const alone = (policy_text: string) => {
  try {
    return statementFromInput({ policy_text })
  } catch (error) {
    assert.ok(error instanceof Problem)
    return undefined
  }
}

test('a batch gives the same statements as single parsing, and leaves out those with a fault or a warning', () => {
  const together = statementsFromTexts(texts.map(([text]) => text))
  for (const [index, [text, mayBe]] of texts.entries()) {
    const read = together[index]
    if (read !== undefined) assert.deepEqual(read, alone(text), text)
    if (mayBe) assert.ok(read !== undefined, text)
    else assert.ok(read === undefined || alone(text)?.warnings.length === 0, text)
  }
})

test('a valid statement is parsed in a batch with a faulty one', () => {
  const [sound] = texts[2] ?? ['']
  for (const [text] of texts) assert.deepEqual(statementsFromTexts([text, sound])[1]?.fields.policy_text, sound, text)
})
