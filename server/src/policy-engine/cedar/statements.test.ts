import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../kernel/errors.ts'
import { statementFromInput, statementsFromTexts } from './statement.ts'

/** Whether it may be read with others, by its text. */
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

test('statements read together are what each is alone; one that has anything to tell is left to be read alone', () => {
  const together = statementsFromTexts(texts.map(([text]) => text))
  for (const [index, [text, mayBe]] of texts.entries()) {
    const read = together[index]
    if (read !== undefined) assert.deepEqual(read, alone(text), text)
    if (mayBe) assert.ok(read !== undefined, text)
    else assert.ok(read === undefined || alone(text)?.warnings.length === 0, text)
  }
})

test('one that says nothing wrong among many that do is read all the same', () => {
  const [sound] = texts[2] ?? ['']
  for (const [text] of texts) assert.deepEqual(statementsFromTexts([text, sound])[1]?.fields.policy_text, sound, text)
})
