import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trustPolicy } from './role-policy.ts'
import { snippetsOf } from './snippets.ts'

test('what would be an expression of Terraform is a text', () => {
  // The path of a user may have any character of ASCII.
  const paths = ['$', '%'].map((mark) => `${mark}{x}`)
  const trust = trustPolicy(`arn:aws:iam::111111111111:user/${paths.join('/')}/sallyport`, 'the external id')
  const snippets = snippetsOf({ path: '/', name: 'sallyport', trust, policy: {} })
  const text = (kind: string) => snippets.find((one) => one.kind === kind)?.text ?? ''
  assert.ok(text('terraform').includes(`:user/$${paths[0]}/%${paths[1]}/sallyport"`))
  assert.ok(text('cloudformation').includes(`:user/${paths.join('/')}/sallyport"`))
})
