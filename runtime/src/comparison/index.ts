export { compareAgent, comparisonLimits } from './compare-agent.ts'
export { openLanguageModel } from './language-model.ts'
export { hasLanguageModel, languageModelSource, obtainLanguageModel } from './obtain-language-model.ts'
export { saveComparison } from './save-comparison.ts'
