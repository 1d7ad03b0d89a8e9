import { project } from '../../vitest.shared.ts';

export default project('restart-strategies', import.meta.url);
