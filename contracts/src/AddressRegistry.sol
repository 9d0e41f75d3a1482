// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";

/// @title Registry of the protocol's current addresses
/// @notice The one address of the protocol that never changes. No contract is upgradeable: a part is replaced by deploying its
/// successor and setting it here under one of the `AddressKeys`. In production the owner is a timelock, so that everybody sees
/// a replacement before it takes effect.
contract AddressRegistry is Ownable2Step {
    mapping(bytes32 key => address) private _addresses;
    /// @notice Whether an address is set under a key, or was at any time before. Purchases held by a replaced escrow contract
    /// stay provable by it.
    mapping(bytes32 key => mapping(address part => bool)) public wasNamed;

    /// @notice The owner set the address of a key.
    /// @param key keccak256 of the part's name, one of `AddressKeys`
    /// @param previous The address before this change; zero when the key had none
    /// @param current The address from now on, never zero
    event AddressSet(bytes32 indexed key, address indexed previous, address indexed current);

    /// @notice `getAddress` was asked for a key that has no address.
    /// @dev Check the key against `AddressKeys`; if it is right, the owner has to call `setAddress` first. `findAddress`
    /// returns zero instead of reverting.
    /// @param key The key that was asked for
    error AddressNotSet(bytes32 key);
    /// @notice `setAddress` was called with the zero address.
    /// @dev Pass the address of the successor: a part can be replaced, not removed.
    /// @param key The key that was to be set
    error ZeroAddress(bytes32 key);
    /// @notice The owner called `renounceOwnership`.
    /// @dev Hand the registry over with `transferOwnership` and `acceptOwnership` instead: without an owner no part could be
    /// replaced.
    error OwnerRequired();

    /// @param owner The first owner, not zero; a timelock in production
    constructor(address owner) Ownable(owner) {}

    /// @notice The address under a key. Reverts when there is none, so that nobody pays the zero address by mistake.
    /// @param key keccak256 of the part's name, one of `AddressKeys`
    /// @return current The address set last, never zero
    function getAddress(bytes32 key) external view returns (address current) {
        current = _addresses[key];
        if (current == address(0)) revert AddressNotSet(key);
    }

    /// @notice The address under a key, without a revert when there is none.
    /// @param key keccak256 of the part's name, one of `AddressKeys`
    /// @return The address set last; zero when none was ever set
    function findAddress(bytes32 key) external view returns (address) {
        return _addresses[key];
    }

    /// @notice Sets the address of a key. There is no way to remove one: a part can only be replaced. Only the owner may call
    /// it.
    /// @param key keccak256 of the part's name, one of `AddressKeys`
    /// @param current The address from now on, not zero
    function setAddress(bytes32 key, address current) external onlyOwner {
        if (current == address(0)) revert ZeroAddress(key);
        emit AddressSet(key, _addresses[key], current);
        _addresses[key] = current;
        wasNamed[key][current] = true;
    }

    /// @notice Always reverts: without an owner no part could be replaced.
    function renounceOwnership() public view override onlyOwner {
        revert OwnerRequired();
    }
}
