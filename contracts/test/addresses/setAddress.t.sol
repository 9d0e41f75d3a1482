// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {AddressRegistry} from "../../src/AddressRegistry.sol";
import {AddressKeys} from "../../src/libraries/AddressKeys.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract SetAddressTest is MarketTest {
    bytes32 private constant KEY = keccak256("SPLIT_ROUTER");

    /// [CHAIN-40]
    function test_succeeds_whenTheRouterIsUnderItsKey() public view {
        assertEq(addresses.getAddress(keccak256("SPLIT_ROUTER")), address(router));
    }

    function test_succeeds_whenKeysAreHashesOfTheirNames() public pure {
        assertEq(AddressKeys.SPLIT_ROUTER, keccak256("SPLIT_ROUTER"));
        assertEq(AddressKeys.REVIEW_REGISTRY, keccak256("REVIEW_REGISTRY"));
        assertEq(AddressKeys.IDENTITY_REGISTRY, keccak256("IDENTITY_REGISTRY"));
        assertEq(AddressKeys.MERCHANT_REGISTRY, keccak256("MERCHANT_REGISTRY"));
        assertEq(AddressKeys.COMMISSION_ESCROW, keccak256("COMMISSION_ESCROW"));
        assertEq(AddressKeys.USDC, keccak256("USDC"));
        assertEq(AddressKeys.TREASURY, keccak256("TREASURY"));
    }

    /// [CHAIN-40]
    function test_succeeds_whenTheOwnerReplacesAPart() public {
        vm.expectEmit(address(addresses));
        emit AddressRegistry.AddressSet(KEY, address(router), stranger);
        vm.prank(admin);
        addresses.setAddress(KEY, stranger);
        assertEq(addresses.getAddress(KEY), stranger);
        assertEq(addresses.findAddress(KEY), stranger);
    }

    function test_succeeds_whenFindingWhatIsNotThere() public view {
        assertEq(addresses.findAddress("none"), address(0));
    }

    function test_reverts_whenGettingWhatIsNotThere() public {
        vm.expectRevert(abi.encodeWithSelector(AddressRegistry.AddressNotSet.selector, bytes32("none")));
        addresses.getAddress("none");
    }

    function test_reverts_whenTheAddressIsZero() public {
        vm.expectRevert(abi.encodeWithSelector(AddressRegistry.ZeroAddress.selector, KEY));
        vm.prank(admin);
        addresses.setAddress(KEY, address(0));
    }

    function test_reverts_whenNotTheOwnerCalls() public {
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger));
        vm.prank(stranger);
        addresses.setAddress(KEY, stranger);
    }

    function test_succeeds_whenOwnershipMovesInTwoSteps() public {
        vm.prank(admin);
        addresses.transferOwnership(stranger);
        assertEq(addresses.owner(), admin);
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, buyer.addr));
        vm.prank(buyer.addr);
        addresses.acceptOwnership();
        vm.prank(stranger);
        addresses.acceptOwnership();
        assertEq(addresses.owner(), stranger);
    }

    function test_reverts_whenDeployedWithoutAnOwner() public {
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableInvalidOwner.selector, address(0)));
        this.deployWithoutOwner();
    }

    function deployWithoutOwner() external {
        deploy("AddressRegistry.sol:AddressRegistry", abi.encode(address(0)));
    }

    function test_succeeds_whenAReplacedPartIsRemembered() public {
        vm.prank(admin);
        addresses.setAddress(KEY, stranger);
        assertTrue(addresses.wasNamed(KEY, address(router)));
        assertTrue(addresses.wasNamed(KEY, stranger));
        assertFalse(addresses.wasNamed(KEY, treasury));
        assertFalse(addresses.wasNamed(AddressKeys.TREASURY, address(router)));
    }

    function test_reverts_whenTheOwnerWouldLeaveNobodyInCharge() public {
        vm.expectRevert(abi.encodeWithSelector(AddressRegistry.OwnerRequired.selector));
        vm.prank(admin);
        addresses.renounceOwnership();
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, stranger));
        vm.prank(stranger);
        addresses.renounceOwnership();
        assertEq(addresses.owner(), admin);
    }
}
