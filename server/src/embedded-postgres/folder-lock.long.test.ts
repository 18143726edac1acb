import { test } from 'node:test'
import { contend } from '../../test/support/lock-contenders.ts'

test('one of four concurrent processes is the owner, and killing it frees the folder: 400 rounds', (t) =>
  contend(t, 400))
