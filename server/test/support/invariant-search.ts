import { readRules } from '../../src/policy-analysis/invariants/read-rule.ts'
import { openBudget } from '../../src/policy-analysis/invariants/search.ts'
import { createEngine } from '../../src/policy-engine/cedar/engine.ts'
import { createPolicyEvaluator } from '../../src/policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../src/policy-engine/deciding/rule-set.ts'
import { sampleRule, sampleRuleSet } from './sample-rule.ts'

const noYield = async () => undefined

export const evaluator = createPolicyEvaluator(createEngine())

/** Limits the search by questions: its time limit is too long for a slow machine to reach. */
export const searchBudget = () => openBudget({ questions: 300, milliseconds: 60_000 }, noYield)

/** The rules of these texts, with the ids `r0`, `r1`, … unless others are given. */
export const ruleSetOf = (texts: readonly string[], ids = texts.map((_, index) => `r${index}`)): RuleSet =>
  sampleRuleSet(texts.map((text, index) => sampleRule(ids[index] ?? '', text)))

export const readRulesOf = ({ rules }: RuleSet) => readRules(rules, new Map(), noYield)
