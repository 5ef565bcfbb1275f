def pull(*args):
    raise NotImplementedError
