import { shownOnce } from '../parts/shown-once.ts'
import type { SetUp } from './connection.ts'

/** What is to be made in AWS for a connection. */
export const { keep: keepSetUp, useShown: useSetUp } = shownOnce<SetUp>()
