"""The paper's experiments: what to run, running it, its table, figures and claims."""
