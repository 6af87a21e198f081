// For `depcruise` by hand and for editors. The rules, and the test that runs them, are in infra/checks/import-rules*.ts.
import { cruiseOptions, importRules } from './infra/checks/import-rules.ts'

export default { forbidden: importRules(import.meta.dirname), options: cruiseOptions }
